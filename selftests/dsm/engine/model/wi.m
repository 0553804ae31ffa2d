-- SPDX-License-Identifier: GPL-2.0
-- Write-invalidate as docs/dsm.md describes it, written from its tables and
-- not from the code: 3 nodes, 2 pages, one FIFO channel per sender and
-- receiver, one CPU per node. Page p is managed by node p. Where the engine
-- guesses a probable owner, a request here may go to any node at all.

const
  NODES: 3;
  PAGES: 2;
  OPS: 2;		-- requests that each node makes
  DEPTH: 5;		-- of a channel
  HOPS: 2;

type
  node: 0 .. NODES - 1;
  page: 0 .. PAGES - 1;
  value: 0 .. 1;
  number: 0 .. 4 * NODES * OPS + 1;
  state: enum { I, S, O, M, IS, IM, IO, SM, OI };
  kind: enum { GET_S, GET_X, GET_O, DATA_S, DATA_X, DATA_O, INV, INV_ACK,
    GAVE, SEAT };
  message: record
    k: kind;
    p: page;
    who: node;		-- asked
    directed: boolean;
    have: boolean;	-- GET: my copy is valid; DATA: no bytes needed
    n: number;
    f: number;		-- SEAT: for which grant
    hop: 0 .. HOPS;	-- a read that goes after the page
    v: value;
    set: array [node] of boolean;
  end;
  channel: record
    len: 0 .. DEPTH;
    m: array [0 .. DEPTH - 1] of message;
  end;
  request: record
    used: boolean;
    m: message;
  end;

var
  st: array [node] of array [page] of state;
  data: array [node] of array [page] of value;
  ver: array [node] of array [page] of number;
  void: array [node] of array [page] of number;
  copies: array [node] of array [page] of array [node] of boolean;
  acks: array [node] of array [page] of array [node] of boolean;
  queue: array [node] of array [page] of array [0 .. 2] of request;
  tail: array [page] of node;		-- at the manager
  ticket: array [page] of number;
  seat: array [node] of array [page] of number;
  seat_for: array [node] of array [page] of number;
  gone: array [node] of array [page] of number;	-- who has it follows heir
  heir: array [node] of array [page] of node;
  left: array [node] of 0 .. OPS;
  fresh: array [node] of array [page] of boolean; -- granted, not yet used
  net: array [node] of array [node] of channel;
  now: array [page] of value;		-- what was written last

function owns(s: state): boolean;
begin
  return s = O | s = M | s = OI;
end;

function stable(s: state): boolean;
begin
  return s = I | s = S | s = O | s = M;
end;

-- In line, or soon: what was sent here stays until the page comes.
function expects(s: state): boolean;
begin
  return s = IM | s = SM | s = IO;
end;

function readable(s: state): boolean;
begin
  return s = S | s = O | s = M | s = SM | s = OI;
end;

function waits(a: node): boolean;
begin
  for p: page do
    if !stable(st[a][p]) then return true; end;
  end;
  return false;
end;

procedure send(a: node; b: node; m: message);
begin
  assert "channel full" net[a][b].len < DEPTH;
  net[a][b].m[net[a][b].len] := m;
  net[a][b].len := net[a][b].len + 1;
end;

procedure defer(a: node; m: message);
begin
  for i: 0 .. 2 do
    if !queue[a][m.p][i].used then
      queue[a][m.p][i].used := true;
      queue[a][m.p][i].m := m;
      return;
    end;
  end;
  error "request queue full";
end;

-- The owner a answers the request m; the page is at rest and unleased.
procedure serve(a: node; m: message);
var r: message;
    n: number;
begin
  if m.directed then n := m.n; else n := seat[a][m.p] + 1; end;
  r := m;
  r.have := m.have & copies[a][m.p][m.who];
  r.v := data[a][m.p];
  if m.k = GET_S then
    st[a][m.p] := O;
    copies[a][m.p][m.who] := true;
    r.k := DATA_S;
    r.have := false;
    r.n := ver[a][m.p];
    send(a, m.who, r);
    return;
  end;
  r.set := copies[a][m.p];
  r.set[m.who] := false;
  for x: node do copies[a][m.p][x] := false; end;
  ver[a][m.p] := n;
  r.n := n;
  if m.k = GET_X then
    r.k := DATA_X;
    st[a][m.p] := I;
    void[a][m.p] := n;
  else
    r.k := DATA_O;
    r.set[a] := true;
    st[a][m.p] := S;
  end;
  undefine data[a][m.p];
  if m.k = GET_X then data[a][m.p] := 0; else data[a][m.p] := r.v; end;
  send(a, m.who, r);
  if !m.directed then
    gone[a][m.p] := seat[a][m.p] + 2;
    heir[a][m.p] := m.who;
    r.k := GAVE;
    r.have := false;
    r.v := 0;
    for x: node do r.set[x] := false; end;
    send(a, m.p, r);
  end;
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
    ticket[m.p] := ticket[m.p] + 2;
    r.n := ticket[m.p];
    tail[m.p] := m.who;
  end;
  if dest = a then
    defer(a, r);
  else
    send(a, dest, r);
  end;
end;

procedure ask(a: node; p: page; k: kind; dest: node);
var m: message;
begin
  m.k := k;
  m.p := p;
  m.who := a;
  m.directed := false;
  m.have := st[a][p] = SM;
  m.n := 0;
  m.f := 0;
  m.hop := 0;
  m.v := 0;
  for x: node do m.set[x] := false; end;
  if a = p then
    direct(a, m);
  else
    send(a, dest, m);
  end;
end;

-- Sent here because of a seat that a has left.
function astray(a: node; m: message): boolean;
begin
  return m.k != GET_S & m.directed & gone[a][m.p] != 0 &
    m.n = gone[a][m.p];
end;

-- A directed read where the page is not and is not coming.
procedure follow(a: node; m: message);
var r: message;
begin
  if a = m.p then
    assert "the manager has a copy" st[a][m.p] = I;
    st[a][m.p] := IO;
    ask(a, m.p, GET_O, a);
    defer(a, m);
  elsif m.hop = HOPS | gone[a][m.p] = 0 then
    send(a, m.p, m);
  else
    r := m;
    r.hop := m.hop + 1;
    send(a, heir[a][m.p], r);
  end;
end;

-- The request m at a, which does not own the page.
procedure route(a: node; m: message);
begin
  if astray(a, m) then
    send(a, heir[a][m.p], m);
  elsif m.directed then
    assert "sent to the wrong node" m.k = GET_S;
    follow(a, m);
  elsif a = m.p then
    direct(a, m);
  else
    send(a, m.p, m);
  end;
end;

procedure requested(b: node; m: message);
begin
  if b = m.p & !m.directed then
    direct(b, m);
  elsif astray(b, m) then
    send(b, heir[b][m.p], m);
  elsif m.who = b then
    assert "our own request" m.k = GET_S & st[b][m.p] = IS & b != m.p;
    follow(b, m);
  elsif owns(st[b][m.p]) | (m.directed & expects(st[b][m.p])) then
    defer(b, m);
  else
    route(b, m);
  end;
end;

-- At the manager: node a gave the page away out of line.
procedure given(b: node; a: node; m: message);
var r: message;
begin
  if m.n = ticket[m.p] + 1 & tail[m.p] = a then
    ticket[m.p] := ticket[m.p] + 2;
    tail[m.p] := m.who;
    r := m;
    r.k := SEAT;
    r.n := ticket[m.p];
    r.f := m.n;
    send(b, m.who, r);
  end;
end;

procedure alone(a: node; p: page);
begin
  for x: node do
    if acks[a][p][x] then return; end;
  end;
  st[a][p] := M;
  fresh[a][p] := true;
end;

procedure invalidate(a: node; p: page);
var m: message;
begin
  st[a][p] := OI;
  m.k := INV;
  m.p := p;
  m.who := a;
  m.directed := false;
  m.have := false;
  m.n := ver[a][p];
  m.f := 0;
  m.hop := 0;
  m.v := 0;
  for x: node do m.set[x] := false; end;
  for x: node do
    acks[a][p][x] := copies[a][p][x];
    copies[a][p][x] := false;
    if acks[a][p][x] then send(a, x, m); end;
  end;
  alone(a, p);
end;

procedure invalidated(a: node; m: message);
var r: message;
begin
  if m.n > void[a][m.p] then void[a][m.p] := m.n; end;
  switch st[a][m.p]
    case S: st[a][m.p] := I;
    case SM: st[a][m.p] := IM;
  end;
  if !readable(st[a][m.p]) then data[a][m.p] := 0; end;
  r := m;
  r.k := INV_ACK;
  send(a, m.who, r);
end;

procedure granted(a: node; m: message);
begin
  if !m.have then data[a][m.p] := m.v; end;
  assert "no bytes and no copy" !m.have | st[a][m.p] = SM;
  if m.k = DATA_S then
    assert "copy not asked for" st[a][m.p] = IS;
    if m.n < void[a][m.p] then
      data[a][m.p] := 0;	-- overtaken: ask the manager again
      ask(a, m.p, GET_S, m.p);
    else
      st[a][m.p] := S;
      fresh[a][m.p] := true;
    end;
    return;
  end;
  ver[a][m.p] := m.n;
  if m.n % 2 = 0 then
    seat[a][m.p] := m.n;
    seat_for[a][m.p] := m.n;
  end;
  for x: node do copies[a][m.p][x] := m.set[x]; end;
  if m.k = DATA_X then
    assert "not asked for" st[a][m.p] = IM | st[a][m.p] = SM;
    invalidate(a, m.p);
  else
    assert "not asked for" st[a][m.p] = IO;
    st[a][m.p] := O;
    fresh[a][m.p] := true;
  end;
end;

-- May a message that wants the page away be taken now?
function free(a: node; p: page): boolean;
begin
  return !fresh[a][p];
end;

ruleset a: node; p: page do
  rule "read" st[a][p] = I & left[a] > 0 & !waits(a) & a != p ==>
  begin
    st[a][p] := IS;
    left[a] := left[a] - 1;
    ask(a, p, GET_S, p);
  end;

  rule "the manager reads" st[a][p] = I & left[a] > 0 & !waits(a) &
      a = p ==>
  begin
    st[a][p] := IO;
    left[a] := left[a] - 1;
    ask(a, p, GET_O, p);
  end;

  rule "write" (st[a][p] = I | st[a][p] = S) & left[a] > 0 & !waits(a) &
      !fresh[a][p] ==>
  begin
    if st[a][p] = I then st[a][p] := IM; else st[a][p] := SM; end;
    left[a] := left[a] - 1;
    ask(a, p, GET_X, p);
  end;

  rule "the owner writes" st[a][p] = O & left[a] > 0 & !waits(a) &
      !fresh[a][p] ==>
  begin
    left[a] := left[a] - 1;
    invalidate(a, p);
  end;

  rule "drop a copy" st[a][p] = S & !fresh[a][p] & left[a] > 0 ==>
  begin
    st[a][p] := I;
    data[a][p] := 0;
    left[a] := left[a] - 1;
  end;

  -- One instruction completes: it may write if it can.
  rule "complete" fresh[a][p] ==>
  begin
    fresh[a][p] := false;
    if st[a][p] = M then
      data[a][p] := 1 - data[a][p];
      now[p] := data[a][p];
    end;
  end;

  rule "serve the queue" queue[a][p][0].used & !fresh[a][p] &
      (st[a][p] = O | st[a][p] = M |
       (!owns(st[a][p]) & (!queue[a][p][0].m.directed |
        astray(a, queue[a][p][0].m) | !expects(st[a][p])))) ==>
  var m: message;
  begin
    m := queue[a][p][0].m;
    queue[a][p][0] := queue[a][p][1];
    queue[a][p][1] := queue[a][p][2];
    undefine queue[a][p][2];
    queue[a][p][2].used := false;
    if !owns(st[a][p]) then
      route(a, m);
    elsif m.k != GET_S & !m.directed & seat_for[a][p] != ver[a][p] then
      send(a, p, m);
    else
      serve(a, m);
    end;
  end;
end;

-- A request that trusts a guess.
ruleset a: node; p: page; b: node do
  rule "read from a guess" st[a][p] = I & left[a] > 0 & !waits(a) &
      a != p & b != a & b != p ==>
  begin
    st[a][p] := IS;
    left[a] := left[a] - 1;
    ask(a, p, GET_S, b);
  end;

  rule "write by a guess" (st[a][p] = I | st[a][p] = S) & left[a] > 0 &
      !waits(a) & !fresh[a][p] & a != p & b != a & b != p ==>
  begin
    if st[a][p] = I then st[a][p] := IM; else st[a][p] := SM; end;
    left[a] := left[a] - 1;
    ask(a, p, GET_X, b);
  end;
end;

ruleset a: node; b: node do
  rule "receive" net[a][b].len > 0 &
      !(net[a][b].m[0].k = INV & fresh[b][net[a][b].m[0].p]) ==>
  var m: message;
  begin
    m := net[a][b].m[0];
    for i: 0 .. DEPTH - 2 do
      net[a][b].m[i] := net[a][b].m[i + 1];
    end;
    undefine net[a][b].m[DEPTH - 1];
    net[a][b].len := net[a][b].len - 1;
    switch m.k
      case GET_S, GET_X, GET_O:
        requested(b, m);
      case GAVE:
        given(b, a, m);
      case SEAT:
        seat[b][m.p] := m.n;
        seat_for[b][m.p] := m.f;
      case DATA_S, DATA_X, DATA_O:
        granted(b, m);
      case INV:
        assert "an owner is invalidated" !owns(st[b][m.p]);
        invalidated(b, m);
      case INV_ACK:
        assert "acknowledged twice" acks[b][m.p][a];
        acks[b][m.p][a] := false;
        alone(b, m.p);
    end;
  end;
end;

function at_rest(): boolean;
begin
  for a: node do
    for p: page do
      if !stable(st[a][p]) | fresh[a][p] | queue[a][p][0].used then
        return false;
      end;
    end;
    for b: node do
      if net[a][b].len > 0 then return false; end;
    end;
  end;
  return true;
end;

-- Nothing to do is no deadlock; waiting with nothing to do is.
rule "idle" at_rest() ==> begin end;

-- Page 0 is anybody's at first, page 1 its manager's.
ruleset o: node do startstate begin
  for a: node do
    left[a] := OPS;
    for p: page do
      st[a][p] := I;
      data[a][p] := 0;
      ver[a][p] := 0;
      void[a][p] := 0;
      seat[a][p] := 0;
      seat_for[a][p] := 0;
      gone[a][p] := 0;
      heir[a][p] := p;
      fresh[a][p] := false;
      for x: node do
        copies[a][p][x] := false;
        acks[a][p][x] := false;
      end;
      for i: 0 .. 2 do queue[a][p][i].used := false; end;
    end;
    for b: node do net[a][b].len := 0; end;
  end;
  for p: page do
    tail[p] := p;
    if p = 0 then tail[p] := o; end;
    st[tail[p]][p] := M;
    ticket[p] := 0;
    now[p] := 0;
  end;
end; end;

invariant "single writer or many readers"
  forall a: node do forall b: node do forall p: page do
    (a != b & st[a][p] = M) -> !readable(st[b][p])
  end end end;

invariant "one owner"
  forall a: node do forall b: node do forall p: page do
    a = b | !owns(st[a][p]) | !owns(st[b][p])
  end end end;

invariant "data value"
  forall a: node do forall p: page do
    readable(st[a][p]) -> data[a][p] = now[p]
  end end;

liveness "everybody is served" at_rest();
