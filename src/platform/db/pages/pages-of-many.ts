/** Reads the same page of many lists in one statement, each as part of its parent's row. */
import { sql, type SQL } from 'drizzle-orm';
import type { Db } from '../database.js';
import { positionValues } from './keyset.js';
import {
  startOf,
  totalOf,
  type List,
  type Page,
  type PageStart,
  type PartOfList,
  type SamePageRequest,
} from './page.js';
import { asJson, jsonReader, type RowShape } from '../rows.js';
import { builder, cachedByKey, statement, type Placeholders } from '../statement.js';

export const EACH_PARENT = sql`parent.id`;

interface Options<V extends object, Item> {
  /** The name of the statement. The totals' statement adds ` total`. */
  readonly name: string;
  /** True if the lists may be read from a replica, like a statement with `mayBeStale`. */
  readonly mayBeStale?: boolean;
  /** The rows' shape, with the column names of the page's select. */
  readonly shape: RowShape;
  partOf($: Placeholders<V>, request: PartOfList): { from: SQL; order: SQL };
  totalOf($: Placeholders<V>): SQL;
  readonly pageOf: List<object, Item>['pageOf'];
}

type Rows<Id, V> = (on: Db, values: V) => Promise<{ id: Id; rows: unknown[][] }[]>;

/** If a total is requested, a second statement reads all lists' totals. */
export function pagesOfMany<Id extends string, V extends { readonly ids: string }, Item>(options: Options<V, Item>) {
  const { name, shape, partOf, totalOf: totalIn, pageOf } = options;
  const pages = cachedByKey<Rows<Id, V>>();
  const read = jsonReader<Item>(shape);
  const id = sql<Id>`${EACH_PARENT}`.as('id');
  const parentsOf = ($: Placeholders<V>) => sql`unnest(${$('ids')}::text[]) as parent(id)`;

  function pagesOf(size: number, start: PageStart): Rows<Id, V> {
    const rowsIn = ($: Placeholders<V>) => {
      const { from, order } = partOf($, { size, start });
      return sql<unknown[][]>`(select coalesce(json_agg(${asJson(shape)} order by ${order}), '[]') from ${from})`;
    };
    return pages(`${size} ${start}`, () =>
      statement(
        name,
        ($: Placeholders<V>) => ({ id, rows: rowsIn($).as('rows') }),
        ($, fields) => builder.select(fields).from(parentsOf($)),
        'json',
      ),
    );
  }

  const countMany = statement(
    `${name} total`,
    ($: Placeholders<V>) => ({ id, count: sql<number>`${totalIn($)}::int`.as('count') }),
    ($, fields) => builder.select(fields).from(parentsOf($)),
  );

  return async (db: Db, values: V, request: SamePageRequest): Promise<Map<Id, Page<Item>>> => {
    const on = options.mayBeStale ? (db.forStaleReads ?? db) : db;
    const { size, after, before } = request;
    const start = startOf(request);
    let counted: Promise<Map<Id, number>> | undefined;
    const count = async () => new Map((await countMany(on, values)).map((row) => [row.id, row.count]));
    const rows = await pagesOf(size, start)(on, { ...values, ...positionValues(after ?? before) });
    return new Map(
      rows.map((row) => [
        row.id,
        pageOf(row.rows.map(read), { size, start }, async () => totalOf((await (counted ??= count())).get(row.id))),
      ]),
    );
  };
}
