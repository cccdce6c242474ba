/** Sources as people write them in each language, and what is listed of them. Both begin with a line break. */
export const SAMPLES: readonly (readonly [path: string, source: string, listed: string])[] = [
  [
    'modules.ts',
    `
import x from 'x';
export * from 'y';

/** The most items of one order. */
export const LIMIT = 3,
  OTHER = { a: 4 };
const hidden = 1;
export const handler = async (
  event: Event,
): Promise<void> => {
  function local() {}
};
const onlyHere = function () { return 1; };
export function over(a: string): void;
export function over(a: unknown): void {}
export function* generate() {}
export default (a: number) => a;
export type Pair<A> = {
  a: A;
};
export const enum Kind { A, B }
export declare const version: string;
declare function plain(
  a: number,
): string;
function outer() { function inner() {} class Inner {} }
if (hidden) { function conditional() {} }
`,
    `
6 variable: export const LIMIT = 3
7 variable: OTHER = { a: 4 }
9-13 function: export const handler = async (event: Event): Promise<void> =>
14 function: const onlyHere = function ()
15 function: export function over(a: string): void
16 function: export function over(a: unknown): void
17 function: export function* generate()
18 function: export default (a: number) =>
19-21 type: export type Pair<A>
22 enum: export const enum Kind
23 variable: export declare const version: string
24-26 function: declare function plain(a: number): string
27 function: function outer()
`,
  ],
  [
    'classes.mts',
    `
@Injectable()
// The shop of a town.
export class Shop<T> extends Base<T> implements Sell {
  static count = 0;
  @Input() name = '';
  onClick = (event: Event) => {};
  constructor(private readonly store: Store) { super(); }
  @Hook('x')
  get size(): number { return 1; }
  async *sell(
    item: string,
    { count = 1 }: Options = {},
  ): AsyncGenerator<Item> {
    class Local { none() {} }
  }
  #secret() {}
  static { init(); }
}
@Plain class Decorated {}
export abstract class Abstract { abstract later(): void; protected abstract name: string }
export interface Sell extends Other {
  readonly name: string;
  sell(item: string): void;
}
const Mixin = class extends Base { mixed() {} };
export default class { only() {} }
`,
    `
2-19 class: export class Shop<T> extends Base<T> implements Sell
  7 method: onClick = (event: Event) =>
  8 method: constructor(private readonly store: Store)
  10 method: get size(): number
  11-16 method: async *sell(item: string, { count = 1 }: Options = {}): AsyncGenerator<Item>
  17 method: #secret()
20 class: class Decorated
21 class: export abstract class Abstract
  21 method: abstract later(): void
22-25 interface: export interface Sell extends Other
  24 method: sell(item: string): void
26 class: const Mixin = class extends Base
  26 method: mixed()
27 class: export default class
  27 method: only()
`,
  ],
  [
    'types.d.cts',
    `
export namespace Outer.Inner { export function f() {} const hidden = 1; export const shown = 2; }
declare module 'shop' {
  export function open(): void;
  interface Door { close(): void }
}
declare global { interface Window { opened(): void } }
`,
    `
2 namespace: export namespace Outer.Inner
  2 function: export function f()
  2 variable: export const shown = 2
3-6 namespace: declare module 'shop'
  4 function: export function open(): void
  5 interface: interface Door
    5 method: close(): void
7 interface: interface Window
  7 method: opened(): void
`,
  ],
  [
    'page.tsx',
    `
export const App: React.FC<Props> = ({ name }) => <div onClick={() => {}}>{name}</div>;
export default function Page<T,>({ items }: Props<T>) {
  return <List items={items} />;
}
class Old extends React.Component<Props> {
  render() { return <a href="x" />; }
}
export const Wrapped = memo(App);
`,
    `
2 function: export const App: React.FC<Props> = ({ name }) =>
3-5 function: export default function Page<T,>({ items }: Props<T>)
6-8 class: class Old extends React.Component<Props>
  7 method: render()
9 variable: export const Wrapped = memo(App)
`,
  ],
  [
    'script.js',
    `
#!/usr/bin/env node
'use strict';
const fs = require('fs');
var self = this;
exports.save = function (x) {};
module.exports = class Store { #a = 1; handler = () => {}; load() {} };
Shop.prototype.sell = (item) => {};
module.exports.LIMIT = 3;
function plain(a, b = 2, ...rest) {}
async function* numbers() {}
`.trimStart(),
    `
5 function: exports.save = function (x)
6 class: module.exports = class Store
  6 method: handler = () =>
  6 method: load()
7 function: Shop.prototype.sell = (item) =>
9 function: function plain(a, b = 2, ...rest)
10 function: async function* numbers()
`,
  ],
  [
    'view.jsx',
    `
function App({ name }) { return <div>{name}</div>; }
const Item = ({ a }) => <li>{a}</li>;
`,
    `
2 function: function App({ name })
3 function: const Item = ({ a }) =>
`,
  ],
  [
    'shop.py',
    `
"""A shop."""
import os

LIMIT: int = 3
log = logging.getLogger(__name__)
self.b = 1
x, y = 1, 2

if TYPE_CHECKING:
    def only_types() -> None: ...
elif os.name == "nt":
    def windows(): pass
else:
    def unix(): pass

try:
    import json
except ImportError:
    def loads(s): return s
finally:
    with open("x"):
        def within(): pass

@dataclass(frozen=True)
@other
class Shop(Base, metaclass=Meta):
    """A shop."""
    name: str
    count = 0

    @property
    def size(self) -> int:
        def local(): pass
        return 1

    async def sell(
        self,
        item: Item,
        count: int = 1,
    ) -> Receipt:
        return None

    class Inner:
        def deep(self): pass

def helper[T](x: T) -> T:
    def inner(): pass
    return x

type Pair = tuple[int, int]
`,
    `
5 variable: LIMIT: int = 3
6 variable: log = logging.getLogger(__name__)
11 function: def only_types() -> None
13 function: def windows()
15 function: def unix()
20 function: def loads(s)
23 function: def within()
25-45 class: class Shop(Base, metaclass=Meta)
  32-35 method: def size(self) -> int
  37-42 method: async def sell(self, item: Item, count: int = 1) -> Receipt
  44-45 class: class Inner
    45 method: def deep(self)
47-49 function: def helper[T](x: T) -> T
51 type: type Pair = tuple[int, int]
`,
  ],
  [
    'shop.go',
    `
package shop

import "fmt"

// Limit of one order.
const Limit = 3

const (
	A, B = iota, 2
	C
)

var ErrEmpty = errors.New("empty")

var (
	first = 1
	last  int
)

type Shop struct {
	Name string
	Door interface{ Close() error }
}

type (
	ID    int64
	Store interface {
		Get(id ID) (*Shop, error)
		io.Closer
	}
)

type Alias = Shop
type Door = interface{ Close() error }
var local interface{ None() error }

func New[T any](name string, opts ...Option) *Shop {
	local := func() {}
	return nil
}

func (s *Shop) Sell(
	item string,
	count int,
) error {
	return nil
}
`,
    `
7 constant: Limit = 3
10 constant: A, B = iota, 2
11 constant: C
14 variable: ErrEmpty = errors.New("empty")
17 variable: first = 1
18 variable: last int
21-24 struct: Shop struct
27 type: ID int64
28-31 interface: Store interface
  29 method: Get(id ID) (*Shop, error)
34 type: Alias = Shop
35 type: Door = interface{ Close() error }
  35 method: Close() error
36 variable: local interface{ None() error }
38-41 function: func New[T any](name string, opts ...Option) *Shop
43-48 method: func (s *Shop) Sell(item string, count int) error
`,
  ],
  [
    'shop.rs',
    `
use std::fmt;

pub const LIMIT: usize = 3;
static NAME: &str = "x";

/// A shop.
#[derive(Debug)]
pub struct Shop<'a> {
    name: &'a str,
}

pub enum Kind { A, B(i32) }
union Bits { a: u32, b: f32 }
type Id = u64;

pub trait Sell: Send {
    type Item;
    const MAX: usize;
    fn sell(
        &self,
        item: Self::Item,
    ) -> Result<(), Error>;
    fn all(&self) { fn local() {} }
}

impl<'a> Sell for Shop<'a>
where
    Self: Sized,
{
    pub async fn sell(&self) {}
}

mod inner {
    pub(crate) fn helper() {}
}
mod other;

macro_rules! shop {
    () => {};
}

extern "C" {
    fn external(a: i32) -> i32;
}
`,
    `
4 constant: pub const LIMIT: usize = 3
5 variable: static NAME: &str = "x"
9-11 struct: pub struct Shop<'a>
13 enum: pub enum Kind
14 union: union Bits
15 type: type Id = u64
17-25 trait: pub trait Sell: Send
  19 constant: const MAX: usize
  20-23 method: fn sell(&self, item: Self::Item) -> Result<(), Error>
  24 method: fn all(&self)
27-32 impl: impl<'a> Sell for Shop<'a> where Self: Sized
  31 method: pub async fn sell(&self)
34-36 module: mod inner
  35 function: pub(crate) fn helper()
37 module: mod other
39-41 macro: macro_rules! shop
44 function: fn external(a: i32) -> i32
`,
  ],
  [
    'Shop.java',
    `
package shop;

import java.util.List;

/** A shop. */
@Entity
@Table(name = "shops")
public abstract class Shop<T> extends Base implements Seller, Closeable {
    private static final int LIMIT = 3;

    public Shop(String name) { this.name = name; }

    @Override
    @Transactional
    public synchronized <R> List<R> sell(
        String item,
        int count) throws IOException {
        Runnable local = () -> {};
        class Local { void none() {} }
        return null;
    }

    abstract void later();

    enum Kind { ONE, TWO { void none() {} }; Kind next() { return ONE; } }

    record Point(int x, int y) { Point { } double length() { return 0; } }

    interface Seller { void sell(); default void both() {} }

    @interface Note { String value() default ""; }
}
`,
    `
7-33 class: public abstract class Shop<T> extends Base implements Seller, Closeable
  12 method: public Shop(String name)
  14-22 method: public synchronized <R> List<R> sell(String item, int count) throws IOException
  24 method: abstract void later()
  26 enum: enum Kind
    26 method: Kind next()
  28 record: record Point(int x, int y)
    28 method: Point
    28 method: double length()
  30 interface: interface Seller
    30 method: void sell()
    30 method: default void both()
  32 annotation: @interface Note
    32 method: String value() default ""
`,
  ],
];
