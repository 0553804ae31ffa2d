-- SPDX-License-Identifier: GPL-2.0
-- Write-update with atomics at the owner (wu+) as docs/dsm.md describes it,
-- written from its tables and not from the code: 3 nodes, 2 pages of one
-- word each, one CPU per node, a causal network. Page p is managed by node
-- p. A write leaves at once or waits in its node's batch; what is in a page
-- and what flew past it is told apart by counts, as the text says.

const
  NODES: 3;
  PAGES: 2;
  OPS: 1;		-- instructions of each node
  HINTS: 0;		-- changes of mode that nobody needs
  MSGS: 14;		-- under way at once

type
  node: 0 .. NODES - 1;
  page: 0 .. PAGES - 1;
  number: 0 .. NODES * OPS + HINTS;
  slot: 0 .. MSGS - 1;
  state: enum { I, S, O, M, IS, IM, IO, SM, SO, OI, OC };
  modes: enum { WI, MW, SW };
  kind: enum { GET_S, GET_X, GET_O, DATA_S, DATA_X, DATA_O, INV, INV_ACK,
    UPD, MODE, MODE_ACK };
  instr: enum { NONE, READ, WRITE, ATOMIC, ALONE };
  nodes: array [node] of boolean;
  message: record
    k: kind;
    src: node;
    dst: node;
    p: page;
    who: node;		-- asked
    directed: boolean;
    have: boolean;	-- GET: my copy is valid; DATA: no bytes needed
    n: number;
    md: modes;
    v: number;		-- value: the how-manieth write of all
    c: number;		-- clock
    set: nodes;
    counts: array [node] of number;
    after: array [slot] of boolean;	-- what happened before it
  end;
  request: record
    used: boolean;
    m: message;
  end;

var
  st: array [node] of array [page] of state;
  md: array [node] of array [page] of modes;
  data: array [node] of array [page] of number;
  ver: array [node] of array [page] of number;
  void: array [node] of array [page] of number;
  mine: array [node] of array [page] of number;
  copies: array [node] of array [page] of nodes;
  acks: array [node] of array [page] of nodes;
  next: array [node] of array [page] of modes;	-- OC: the mode to come
  queue: array [node] of array [page] of array [0 .. 2] of request;
  tail: array [page] of node;		-- at the manager
  ticket: array [page] of number;
  op: array [node] of instr;		-- under way, on page at
  at: array [node] of page;
  fresh: array [node] of boolean;	-- may complete, holds its page
  left: array [node] of 0 .. OPS;
  hints: 0 .. HINTS;

  clock: array [node] of number;
  got: array [node] of array [node] of number;	-- UPDs of each; own: sent
  last_c: array [node] of array [page] of number;  -- highest merged
  last_n: array [node] of array [page] of node;
  kept: array [node] of array [page] of boolean;  -- came during a fetch
  kept_v: array [node] of array [page] of number;
  kept_n: array [node] of array [page] of node;
  kept_i: array [node] of array [page] of number;
  waits: array [node] of boolean;	-- a write in the batch
  batch: array [node] of message;

  net: array [slot] of message;
  len: 0 .. MSGS;
  seen: array [node] of array [slot] of boolean;
  written: number;			-- writes of all so far

function owns(s: state): boolean;
begin
  return s = O | s = M | s = OI | s = OC;
end;

function stable(s: state): boolean;
begin
  return s = I | s = S | s = O | s = M;
end;

function fetches(s: state): boolean;
begin
  return s = IS | s = IM | s = IO;
end;

function copy(s: state): boolean;
begin
  return !(s = I | fetches(s));
end;

-- May the instruction be executed or emulated now?
function can(a: node; p: page; i: instr): boolean;
begin
  if i = READ then return copy(st[a][p]); end;
  if st[a][p] = M then return true; end;
  if i = ALONE | md[a][p] = WI then return false; end;
  if i = ATOMIC | md[a][p] = SW then
    return md[a][p] = SW & st[a][p] = O;
  end;
  return !fetches(st[a][p]) & st[a][p] != OC;
end;

procedure post(a: node; b: node; m: message);
begin
  assert "network full" len < MSGS;
  net[len] := m;
  net[len].src := a;
  net[len].dst := b;
  for i: slot do net[len].after[i] := seen[a][i]; end;
  seen[a][len] := true;
  len := len + 1;
end;

-- One broadcast happens at once: who gets a copy knows of all others.
procedure cast(a: node; m: message; who: nodes);
var first: 0 .. MSGS;
begin
  first := len;
  for x: node do
    if who[x] & x != a then post(a, x, m); end;
  end;
  for i: slot do
    if i >= first & i < len then
      for j: slot do
        if j >= first & j < len then net[i].after[j] := true; end;
      end;
    end;
  end;
end;

procedure flush(a: node);
var all: nodes;
begin
  if waits[a] then
    for x: node do all[x] := true; end;
    cast(a, batch[a], all);
    got[a][a] := got[a][a] + 1;
    waits[a] := false;
    undefine batch[a];
  end;
end;

-- Nothing overtakes a write that happened before it.
procedure send(a: node; b: node; m: message);
begin
  flush(a);
  post(a, b, m);
end;

procedure blank(var m: message; k: kind; a: node; p: page);
begin
  m.k := k;
  m.src := a;
  m.dst := a;
  m.p := p;
  m.who := a;
  m.directed := false;
  m.have := false;
  m.n := ver[a][p];
  m.md := md[a][p];
  m.v := 0;
  m.c := 0;
  for x: node do
    m.set[x] := false;
    m.counts[x] := 0;
  end;
  for i: slot do m.after[i] := false; end;
end;

procedure defer(a: node; m: message);
var r: message;
begin
  r := m;
  for i: slot do r.after[i] := false; end;
  for i: 0 .. 2 do
    if !queue[a][m.p][i].used then
      queue[a][m.p][i].used := true;
      queue[a][m.p][i].m := r;
      return;
    end;
  end;
  error "request queue full";
end;

-- The manager a numbers a request for ownership and passes it on.
procedure direct(a: node; m: message);
var r: message;
    dest: node;
begin
  r := m;
  r.directed := true;
  dest := tail[m.p];
  if m.k != GET_S then
    ticket[m.p] := ticket[m.p] + 1;
    r.n := ticket[m.p];
    tail[m.p] := m.who;
  end;
  assert "a request comes back" dest != m.who;
  if dest = a then defer(a, r); else send(a, dest, r); end;
end;

procedure ask(a: node; p: page; k: kind);
var m: message;
begin
  blank(m, k, a, p);
  m.n := 0;
  m.have := st[a][p] = SM | st[a][p] = SO;
  if a = p then direct(a, m); else send(a, p, m); end;
end;

-- Straight to the owner that has answered with a copy only.
procedure ask_again(a: node; p: page; b: node);
var m: message;
begin
  if st[a][p] = IM | st[a][p] = SM then
    blank(m, GET_X, a, p);
  else
    blank(m, GET_O, a, p);
  end;
  m.directed := true;
  m.have := st[a][p] = SM | st[a][p] = SO;
  m.n := mine[a][p];
  send(a, b, m);
end;

procedure mode_start(a: node; p: page; to_mode: modes);
var m: message;
begin
  st[a][p] := OC;
  next[a][p] := to_mode;
  for x: node do acks[a][p][x] := x != a; end;
  blank(m, MODE, a, p);
  m.md := to_mode;
  flush(a);
  cast(a, m, acks[a][p]);
end;

procedure invalidate(a: node; p: page);
var m: message;
    any: boolean;
begin
  st[a][p] := OI;
  any := false;
  for x: node do
    acks[a][p][x] := copies[a][p][x];
    any := any | copies[a][p][x];
    copies[a][p][x] := false;
  end;
  if any then
    blank(m, INV, a, p);
    flush(a);
    cast(a, m, acks[a][p]);
  else
    st[a][p] := M;
  end;
end;

-- What the instruction under way lacks; the page is at rest.
procedure want(a: node; p: page);
var alone: boolean;
begin
  alone := op[a] = ALONE | md[a][p] = WI;
  if op[a] = READ then
    if md[a][p] = WI & a = p then
      st[a][p] := IO;
      ask(a, p, GET_O);
    else
      st[a][p] := IS;
      ask(a, p, GET_S);
    end;
  elsif st[a][p] = O then
    if alone then invalidate(a, p); else mode_start(a, p, SW); end;
  elsif alone then
    if st[a][p] = S then st[a][p] := SM; else st[a][p] := IM; end;
    ask(a, p, GET_X);
  else
    if st[a][p] = S then st[a][p] := SO; else st[a][p] := IO; end;
    ask(a, p, GET_O);
  end;
end;

-- A page has come to rest: the instruction may go on, or asks for more.
procedure settle(a: node; p: page);
begin
  if op[a] != NONE & at[a] = p & !fresh[a] & stable(st[a][p]) then
    if !can(a, p, op[a]) then want(a, p); end;
    -- An owner without copies is alone at once.
    if can(a, p, op[a]) then fresh[a] := true; end;
  end;
end;

-- Every acknowledgement is in.
procedure acknowledged(a: node; p: page);
var any: boolean;
begin
  for x: node do
    if acks[a][p][x] then return; end;
  end;
  if st[a][p] = OC then md[a][p] := next[a][p]; end;
  any := false;
  for x: node do any := any | copies[a][p][x]; end;
  if any then st[a][p] := O; else st[a][p] := M; end;
  next[a][p] := MW;
  settle(a, p);
end;

-- The owner a answers the request m; the page is at rest and unleased.
procedure serve(a: node; m: message);
var r: message;
    p: page;
begin
  p := m.p;
  flush(a);
  blank(r, DATA_S, a, p);
  r.who := m.who;
  r.have := m.have & copies[a][p][m.who];
  for x: node do r.counts[x] := got[a][x]; end;
  r.v := data[a][p];
  if m.k = GET_S | (md[a][p] != WI & !r.have) then
    st[a][p] := O;
    copies[a][p][m.who] := true;
    if m.k != GET_S then r.n := m.n; end;
    r.have := false;
    send(a, m.who, r);
    return;
  end;
  for x: node do
    r.set[x] := copies[a][p][x] & x != m.who;
    copies[a][p][x] := false;
  end;
  r.n := m.n;
  ver[a][p] := m.n;
  if m.k = GET_X then
    r.k := DATA_X;
    st[a][p] := I;
    data[a][p] := 0;
    void[a][p] := m.n;
  else
    r.k := DATA_O;
    r.set[a] := true;
    st[a][p] := S;
  end;
  send(a, m.who, r);
end;

procedure install(a: node; m: message);
begin
  if m.n >= ver[a][m.p] then md[a][m.p] := m.md; end;
  if fetches(st[a][m.p]) then
    assert "no bytes and no copy" !m.have;
    data[a][m.p] := m.v;
    if kept[a][m.p] & kept_i[a][m.p] > m.counts[kept_n[a][m.p]] then
      data[a][m.p] := kept_v[a][m.p];
    end;
  end;
  kept[a][m.p] := false;
  kept_v[a][m.p] := 0;
  kept_n[a][m.p] := 0;
  kept_i[a][m.p] := 0;
end;

procedure granted(a: node; m: message);
var p: page;
begin
  p := m.p;
  if m.k = DATA_S then
    assert "copy not asked for" fetches(st[a][p]);
    mine[a][p] := m.n;
    if m.n < void[a][p] then	-- overtaken: ask again
      kept[a][p] := false;
      kept_v[a][p] := 0;
      kept_n[a][p] := 0;
      kept_i[a][p] := 0;
      if st[a][p] = IS then
        ask(a, p, GET_S);
      else
        ask_again(a, p, m.src);
      end;
      return;
    end;
    install(a, m);
    switch st[a][p]
      case IS:
        if m.n > ver[a][p] then ver[a][p] := m.n; end;
        st[a][p] := S;
        settle(a, p);
      case IM:
        st[a][p] := SM;
        ask_again(a, p, m.src);
      case IO:
        st[a][p] := SO;
        ask_again(a, p, m.src);
    end;
    return;
  end;
  install(a, m);
  ver[a][p] := m.n;
  mine[a][p] := 0;
  for x: node do copies[a][p][x] := m.set[x]; end;
  if m.k = DATA_X then
    assert "not asked for" st[a][p] = IM | st[a][p] = SM;
    invalidate(a, p);
  else
    assert "not asked for" st[a][p] = IO | st[a][p] = SO;
    st[a][p] := O;
  end;
  settle(a, p);
end;

procedure invalidated(a: node; m: message);
var r: message;
begin
  if m.n > void[a][m.p] then void[a][m.p] := m.n; end;
  if m.n > ver[a][m.p] then ver[a][m.p] := m.n; end;
  switch st[a][m.p]
    case S: st[a][m.p] := I;
    case SM: st[a][m.p] := IM;
    case SO: st[a][m.p] := IO;
  end;
  if !copy(st[a][m.p]) then data[a][m.p] := 0; end;
  blank(r, INV_ACK, a, m.p);
  r.n := m.n;
  send(a, m.src, r);
end;

procedure updated(a: node; m: message);
begin
  got[a][m.src] := got[a][m.src] + 1;
  if m.c > clock[a] then clock[a] := m.c; end;
  if m.c < last_c[a][m.p] |
      (m.c = last_c[a][m.p] & m.src < last_n[a][m.p]) then
    return;			-- a newer write hides it
  end;
  last_c[a][m.p] := m.c;
  last_n[a][m.p] := m.src;
  if copy(st[a][m.p]) then
    data[a][m.p] := m.v;
  elsif fetches(st[a][m.p]) then
    kept[a][m.p] := true;	-- hides what was kept before
    kept_v[a][m.p] := m.v;
    kept_n[a][m.p] := m.src;
    kept_i[a][m.p] := got[a][m.src];
  end;
end;

procedure mode_told(a: node; m: message);
var r: message;
begin
  assert "an owner is told its mode" !owns(st[a][m.p]);
  if m.n >= ver[a][m.p] then
    md[a][m.p] := m.md;
    ver[a][m.p] := m.n;
  end;
  blank(r, MODE_ACK, a, m.p);
  r.n := m.n;
  send(a, m.src, r);
end;

-- A trapped write: applied here, numbered, sent now or later.
procedure emulate(a: node; p: page; now: boolean);
var m: message;
begin
  clock[a] := clock[a] + 1;
  last_c[a][p] := clock[a];
  last_n[a][p] := a;
  if copy(st[a][p]) then data[a][p] := written; end;
  flush(a);
  blank(m, UPD, a, p);
  m.c := clock[a];
  m.v := written;
  batch[a] := m;
  waits[a] := true;
  if now then flush(a); end;
end;

procedure check_atomic(a: node; p: page);
begin
  for b: node do
    if b != a then
      assert "an atomic beside a write that waits"
        !waits[b] | batch[b].p != p;
      assert "an atomic beside a writer" !can(b, p, WRITE);
    end;
  end;
  for i: slot do
    if i < len then
      assert "an atomic beside a write on its way"
        !(net[i].k = UPD & net[i].p = p & net[i].dst = a);
    end;
  end;
end;

procedure complete(a: node; now: boolean);
var p: page;
begin
  p := at[a];
  fresh[a] := false;
  if !can(a, p, op[a]) then	-- the mode has changed: it faults again
    settle(a, p);
    return;
  end;
  if op[a] != READ then
    written := written + 1;
    if st[a][p] = M then
      data[a][p] := written;
    else
      if op[a] = ATOMIC then check_atomic(a, p); end;
      emulate(a, p, now);
    end;
  end;
  op[a] := NONE;
  at[a] := 0;
end;

function leased(a: node; p: page): boolean;
begin
  return fresh[a] & at[a] = p;
end;

ruleset a: node; p: page; i: instr do
  rule "an instruction" op[a] = NONE & left[a] > 0 & i != NONE ==>
  begin
    left[a] := left[a] - 1;
    op[a] := i;
    at[a] := p;
    settle(a, p);
  end;
end;

ruleset a: node; now: boolean do
  rule "complete" fresh[a] & (now | op[a] != READ) ==>
  begin
    complete(a, now);
  end;
end;

ruleset a: node do
  rule "the wire is idle" waits[a] ==>
  begin
    flush(a);
  end;
end;

ruleset a: node; p: page do
  rule "drop a copy" st[a][p] = S & !leased(a, p) & left[a] > 0 ==>
  begin
    st[a][p] := I;
    data[a][p] := 0;
    left[a] := left[a] - 1;
  end;

  rule "serve the queue" queue[a][p][0].used & !leased(a, p) &
      (st[a][p] = O | st[a][p] = M |
       (!queue[a][p][0].m.directed & !owns(st[a][p]))) ==>
  var m: message;
  begin
    m := queue[a][p][0].m;
    queue[a][p][0] := queue[a][p][1];
    queue[a][p][1] := queue[a][p][2];
    undefine queue[a][p][2];
    queue[a][p][2].used := false;
    if owns(st[a][p]) then serve(a, m);
    elsif a = p then direct(a, m);
    else send(a, p, m);
    end;
  end;
end;

ruleset a: node; p: page; to_mode: modes do
  rule "a hint" hints > 0 & (st[a][p] = O | st[a][p] = M) &
      !leased(a, p) & md[a][p] != to_mode ==>
  begin
    hints := hints - 1;
    mode_start(a, p, to_mode);
  end;
end;

-- Everything that happened before message i and has the same receiver is in.
function ready(i: slot): boolean;
begin
  for j: slot do
    if j < len & j != i & net[i].after[j] & net[j].dst = net[i].dst then
      return false;
    end;
  end;
  return true;
end;

procedure take(i: slot; var m: message);
begin
  m := net[i];
  for j: slot do
    if net[i].after[j] & j < len then seen[m.dst][j] := true; end;
  end;
  for j: 0 .. MSGS - 2 do
    if j >= i & j < len - 1 then net[j] := net[j + 1]; end;
  end;
  len := len - 1;
  undefine net[len];
  for j: 0 .. MSGS - 2 do
    if j >= i then
      for k: slot do
        if k < len then net[k].after[j] := net[k].after[j + 1]; end;
      end;
      for x: node do seen[x][j] := seen[x][j + 1]; end;
    end;
  end;
  for k: slot do
    if k < len then net[k].after[MSGS - 1] := false; end;
  end;
  for x: node do seen[x][MSGS - 1] := false; end;
end;

ruleset i: slot do
  rule "receive" i < len & ready(i) &
      !(net[i].k = INV & leased(net[i].dst, net[i].p)) ==>
  var m: message;
      b: node;
  begin
    take(i, m);
    b := m.dst;
    switch m.k
      case GET_S, GET_X, GET_O:
        if b = m.p & !m.directed then
          direct(b, m);
        elsif owns(st[b][m.p]) | m.directed then
          defer(b, m);
        else
          send(b, m.p, m);
        end;
      case DATA_S, DATA_X, DATA_O:
        granted(b, m);
      case INV:
        assert "an owner is invalidated" !owns(st[b][m.p]);
        invalidated(b, m);
      case UPD:
        updated(b, m);
      case MODE:
        mode_told(b, m);
      case INV_ACK, MODE_ACK:
        assert "acknowledged twice" acks[b][m.p][m.src];
        acks[b][m.p][m.src] := false;
        acknowledged(b, m.p);
    end;
  end;
end;

function at_rest(): boolean;
begin
  for a: node do
    if op[a] != NONE | waits[a] then return false; end;
    for p: page do
      if !stable(st[a][p]) | queue[a][p][0].used then return false; end;
    end;
  end;
  return len = 0;
end;

-- Nothing to do is no deadlock; waiting with nothing to do is.
rule "idle" at_rest() ==> begin end;

startstate begin
  for a: node do
    left[a] := OPS;
    op[a] := NONE;
    at[a] := 0;
    fresh[a] := false;
    waits[a] := false;
    clock[a] := 0;
    for x: node do got[a][x] := 0; end;
    for i: slot do seen[a][i] := false; end;
    for p: page do
      if a = p then st[a][p] := M; else st[a][p] := I; end;
      md[a][p] := MW;
      next[a][p] := MW;
      data[a][p] := 0;
      ver[a][p] := 0;
      void[a][p] := 0;
      mine[a][p] := 0;
      last_c[a][p] := 0;
      last_n[a][p] := 0;
      kept[a][p] := false;
      kept_v[a][p] := 0;
      kept_n[a][p] := 0;
      kept_i[a][p] := 0;
      for x: node do
        copies[a][p][x] := false;
        acks[a][p][x] := false;
      end;
      for i: 0 .. 2 do queue[a][p][i].used := false; end;
    end;
  end;
  for p: page do
    tail[p] := p;
    ticket[p] := 0;
  end;
  hints := HINTS;
  len := 0;
  written := 0;
end;

invariant "an only copy is the only one"
  forall a: node do forall b: node do forall p: page do
    (a != b & st[a][p] = M) -> !copy(st[b][p])
  end end end;

invariant "one owner"
  forall a: node do forall b: node do forall p: page do
    a = b | !owns(st[a][p]) | !owns(st[b][p])
  end end end;

invariant "single writer for atomics"
  forall a: node do forall b: node do forall p: page do
    (a != b & st[a][p] = O & md[a][p] = SW) -> !can(b, p, WRITE)
  end end end;

invariant "data value: copies agree at rest"
  at_rest() -> forall a: node do forall b: node do forall p: page do
    (owns(st[a][p]) & copy(st[b][p])) -> data[a][p] = data[b][p]
  end end end;

invariant "somebody owns each page at rest"
  at_rest() -> forall p: page do exists a: node do owns(st[a][p]) end end;

liveness "everybody is served" at_rest();
