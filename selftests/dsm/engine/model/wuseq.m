-- SPDX-License-Identifier: GPL-2.0
-- Sequenced write-update (wu-seq) as docs/dsm.md describes it, written from
-- its text and not from the code: 3 nodes, pages of one word each, one CPU per
-- node, a causal network. Node 0 is the head. Seats in the line of a page
-- are given at once here, and asking goes to who is last: that is wi's, which
-- has a model of its own.
--
-- What is checked: accesses, sorted by the number of the last store that their
-- node has performed (a store by its own) and then by time, are one order in
-- which each read returns the last write before it. Programs follow
-- that order, so it is sequential consistency.

const
  NODES: 3;
  PAGES: 2;
  OPS: 1;		-- instructions of each node
  MSGS: 12;		-- under way at once

type
  node: 0 .. NODES - 1;
  page: 0 .. PAGES - 1;
  number: 0 .. NODES * OPS;	-- of stores, and of writes of all kinds
  slot: 0 .. MSGS - 1;
  state: enum { I, S, O, M, IS, IM, SM, OI };
  kind: enum { GET_S, GET_X, DATA_S, DATA_X, INV, INV_ACK, STORE, PLACE };
  instr: enum { NONE, READ, WRITE, ALONE };
  nodes: array [node] of boolean;
  message: record
    k: kind;
    src: node;
    dst: node;
    p: page;
    who: node;		-- asked, or stored
    have: boolean;	-- GET: my copy is valid; DATA: no bytes needed
    n: number;		-- DATA: stores that the page knows; PLACE: its own
    v: number;		-- value: the how-manieth write of all
    set: nodes;
    after: array [slot] of boolean;	-- what happened before it
  end;
  request: record
    used: boolean;
    m: message;
  end;

var
  st: array [node] of array [page] of state;
  data: array [node] of array [page] of number;
  copies: array [node] of array [page] of nodes;
  acks: array [node] of array [page] of nodes;
  queue: array [node] of array [page] of array [0 .. 1] of request;
  tail: array [page] of node;
  num: array [node] of number;		-- stores performed
  op: array [node] of instr;		-- under way, on page at
  at: array [node] of page;
  left: array [node] of 0 .. OPS;
  net: array [slot] of message;
  len: 0 .. MSGS;
  seen: array [node] of array [slot] of boolean;

  log_p: array [number] of page;	-- stores that have a number
  log_v: array [number] of number;
  total: number;
  written: number;			-- writes of all so far
  value: array [page] of array [number] of number; -- in the one order
  was_read: array [page] of array [number] of boolean;

function owns(s: state): boolean;
begin
  return s = O | s = M | s = OI;
end;

function copy(s: state): boolean;
begin
  return !(s = I | s = IS | s = IM);
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

procedure blank(var m: message; k: kind; a: node; p: page);
begin
  m.k := k;
  m.src := a;
  m.dst := a;
  m.p := p;
  m.who := a;
  m.have := false;
  m.n := num[a];
  m.v := 0;
  for x: node do m.set[x] := false; end;
  for i: slot do m.after[i] := false; end;
end;

procedure read(a: node; p: page);
begin
  assert "the last write before it" data[a][p] = value[p][num[a]];
  was_read[p][num[a]] := true;
end;

-- To a page that is ours alone; stores with higher numbers come behind it.
procedure native(a: node; p: page);
var hidden: boolean;
begin
  written := written + 1;
  data[a][p] := written;
  hidden := false;
  for j: number do
    if j > num[a] & j <= total & log_p[j] = p then hidden := true; end;
    if j >= num[a] & !hidden then
      assert "a write behind a read of an older value"
        j = num[a] | !was_read[p][j];
      value[p][j] := written;
    end;
  end;
end;

procedure done(a: node);
begin
  op[a] := NONE;
  at[a] := 0;
end;

-- The store with the next number, here as at every other node.
procedure perform(a: node; n: number; who: node);
begin
  assert "a store is left out" n = num[a] + 1;
  num[a] := n;
  if copy(st[a][log_p[n]]) then data[a][log_p[n]] := log_v[n]; end;
  if who = a then done(a); end;
end;

-- The head's part.
procedure give(p: page; who: node);
var m: message;
    all: nodes;
begin
  -- Else what the CPU does meanwhile has a lower number than what was before.
  assert "a CPU waits for its place" op[who] = WRITE & at[who] = p;
  written := written + 1;
  total := total + 1;
  log_p[total] := p;
  log_v[total] := written;
  for j: number do
    if j >= total then value[p][j] := written; end;
  end;
  for x: node do all[x] := true; end;
  blank(m, PLACE, 0, p);
  m.n := total;
  m.who := who;
  cast(0, m, all);
  perform(0, total, who);
end;

procedure ask(a: node; p: page; k: kind);
var m: message;
    dest: node;
begin
  blank(m, k, a, p);
  m.have := st[a][p] = SM;
  dest := tail[p];
  assert "a request comes back" dest != a;
  if k = GET_X then tail[p] := a; end;
  post(a, dest, m);
end;

procedure invalidate(a: node; p: page);
var m: message;
    any: boolean;
begin
  any := false;
  for x: node do
    acks[a][p][x] := copies[a][p][x];
    any := any | copies[a][p][x];
    copies[a][p][x] := false;
  end;
  if any then
    st[a][p] := OI;
    blank(m, INV, a, p);
    cast(a, m, acks[a][p]);
  else
    st[a][p] := M;
    native(a, p);
    done(a);
  end;
end;

-- The page is at rest here.
procedure serve(a: node; m: message);
var r: message;
    p: page;
begin
  p := m.p;
  blank(r, DATA_S, a, p);
  r.v := data[a][p];
  if m.k = GET_S then
    st[a][p] := O;
    copies[a][p][m.who] := true;
  else
    r.k := DATA_X;
    r.have := m.have & copies[a][p][m.who];
    for x: node do
      r.set[x] := copies[a][p][x] & x != m.who;
      copies[a][p][x] := false;
    end;
    st[a][p] := I;
    data[a][p] := 0;
  end;
  post(a, m.who, r);
end;

procedure defer(a: node; m: message);
var r: message;
begin
  r := m;
  for i: slot do r.after[i] := false; end;
  for i: 0 .. 1 do
    if !queue[a][m.p][i].used then
      queue[a][m.p][i].used := true;
      queue[a][m.p][i].m := r;
      return;
    end;
  end;
  error "request queue full";
end;

-- Has the page, or will have it.
function in_line(a: node; p: page): boolean;
begin
  return owns(st[a][p]) | st[a][p] = IM | st[a][p] = SM;
end;

-- A read that was sent to a giver follows the page.
procedure follow(a: node; m: message);
begin
  assert "who is in line has the page" m.k = GET_S;
  post(a, tail[m.p], m);
end;

-- Its bytes, and from the log what its sender had not performed.
procedure install(a: node; m: message);
begin
  assert "a page knows more than its receiver" m.n <= num[a];
  data[a][m.p] := m.v;
  for j: number do
    if j > m.n & j <= num[a] & log_p[j] = m.p then
      data[a][m.p] := log_v[j];
    end;
  end;
end;

procedure granted(a: node; m: message);
begin
  if m.k = DATA_S then
    assert "copy not asked for" st[a][m.p] = IS;
    install(a, m);
    st[a][m.p] := S;
    read(a, m.p);
    done(a);
    return;
  end;
  assert "no bytes and no copy" st[a][m.p] = IM | st[a][m.p] = SM;
  assert "no bytes and no copy" !m.have | st[a][m.p] = SM;
  if !m.have then install(a, m); end;
  for x: node do copies[a][m.p][x] := m.set[x]; end;
  invalidate(a, m.p);
end;

procedure invalidated(a: node; m: message);
var r: message;
begin
  switch st[a][m.p]
    case S: st[a][m.p] := I;
    case SM: st[a][m.p] := IM;
  end;
  if !copy(st[a][m.p]) then data[a][m.p] := 0; end;
  blank(r, INV_ACK, a, m.p);
  post(a, m.src, r);
end;

procedure acknowledged(a: node; p: page);
begin
  for x: node do
    if acks[a][p][x] then return; end;
  end;
  st[a][p] := M;
  native(a, p);
  done(a);
end;

procedure begins(a: node; p: page; i: instr);
var m: message;
begin
  op[a] := i;
  at[a] := p;
  if i = READ then
    if copy(st[a][p]) then
      read(a, p);
      done(a);
    else
      st[a][p] := IS;
      ask(a, p, GET_S);
    end;
  elsif st[a][p] = M then
    native(a, p);
    done(a);
  elsif i = WRITE then
    if a = 0 then
      give(p, a);
    else
      blank(m, STORE, a, p);
      post(a, 0, m);
    end;
  elsif st[a][p] = O then
    invalidate(a, p);
  else
    if st[a][p] = S then st[a][p] := SM; else st[a][p] := IM; end;
    ask(a, p, GET_X);
  end;
end;

ruleset a: node; p: page; i: instr do
  rule "an instruction" op[a] = NONE & left[a] > 0 & i != NONE ==>
  begin
    left[a] := left[a] - 1;
    begins(a, p, i);
  end;
end;

ruleset a: node; p: page do
  rule "drop a copy" st[a][p] = S & left[a] > 0 ==>
  begin
    st[a][p] := I;
    data[a][p] := 0;
    left[a] := left[a] - 1;
  end;

  rule "serve the queue" queue[a][p][0].used &
      (st[a][p] = O | st[a][p] = M | !in_line(a, p)) ==>
  var m: message;
  begin
    m := queue[a][p][0].m;
    queue[a][p][0] := queue[a][p][1];
    undefine queue[a][p][1];
    queue[a][p][1].used := false;
    if in_line(a, p) then serve(a, m); else follow(a, m); end;
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
  rule "receive" i < len & ready(i) ==>
  var m: message;
      b: node;
  begin
    take(i, m);
    b := m.dst;
    switch m.k
      case GET_S, GET_X:
        if in_line(b, m.p) then defer(b, m); else follow(b, m); end;
      case DATA_S, DATA_X:
        granted(b, m);
      case INV:
        assert "an owner is invalidated" !owns(st[b][m.p]);
        invalidated(b, m);
      case INV_ACK:
        assert "acknowledged twice" acks[b][m.p][m.src];
        acks[b][m.p][m.src] := false;
        acknowledged(b, m.p);
      case STORE:
        give(m.p, m.who);
      case PLACE:
        perform(b, m.n, m.who);
    end;
  end;
end;

function at_rest(): boolean;
begin
  for a: node do
    if op[a] != NONE then return false; end;
    for p: page do
      if queue[a][p][0].used then return false; end;
    end;
  end;
  return len = 0;
end;

-- Nothing to do is no deadlock; waiting with nothing to do is.
rule "idle" at_rest() ==> begin end;

startstate begin
  for a: node do
    left[a] := OPS;
    num[a] := 0;
    done(a);
    for i: slot do seen[a][i] := false; end;
    for p: page do
      if a = NODES - 1 - p then st[a][p] := O; else st[a][p] := S; end;
      data[a][p] := 0;
      for x: node do
        copies[a][p][x] := a = NODES - 1 - p & x != a;
        acks[a][p][x] := false;
      end;
      for i: 0 .. 1 do queue[a][p][i].used := false; end;
    end;
  end;
  for p: page do
    tail[p] := NODES - 1 - p;
    for j: number do
      value[p][j] := 0;
      was_read[p][j] := false;
    end;
  end;
  for j: number do
    log_p[j] := 0;
    log_v[j] := 0;
  end;
  total := 0;
  written := 0;
  len := 0;
end;

invariant "an only copy is the only one"
  forall a: node do forall b: node do forall p: page do
    (a != b & st[a][p] = M) -> !copy(st[b][p])
  end end end;

invariant "one owner"
  forall a: node do forall b: node do forall p: page do
    a = b | !owns(st[a][p]) | !owns(st[b][p])
  end end end;

invariant "data value: copies agree at rest"
  at_rest() -> forall a: node do forall p: page do
    copy(st[a][p]) -> data[a][p] = value[p][total]
  end end;

liveness "everybody is served" at_rest();
