/** Reads the same page of many lists, each in the row of its parent, in one statement. */
import { sql, type SQL } from 'drizzle-orm';
import type { Db } from './database.js';
import { positionValues, totalOf, type List, type Page, type PartOfList, type SamePageRequest } from './page.js';
import { asJson, jsonReader, type RowShape } from './rows.js';
import { remembering, statement, type Values } from './statement.js';

/** The parameter of the list that is its parent's id. */
export const EACH_PARENT = sql`asked.id`;

interface Parts<V extends object, Row> {
  /** The rows, with the column names of the page’s own select. */
  readonly shape: RowShape;
  partOf($: Values<V>, request: PartOfList): { from: SQL; order: SQL };
  totalOf($: Values<V>): SQL;
  readonly pageOf: List<object, Row>['pageOf'];
}

type Rows<Id, V> = (db: Db, values: V) => Promise<{ id: Id; found: unknown[][] }[]>;

/** The totals take one more statement for all lists, only if one is needed. */
export function pagesOfMany<Id extends string, V extends { readonly ids: string }, Row>(parts: Parts<V, Row>) {
  const { shape, partOf, totalOf: totalIn, pageOf } = parts;
  const pages = remembering<Rows<Id, V>>();
  const read = jsonReader<Row>(shape);
  const id = sql<Id>`${EACH_PARENT}`.as('id');
  const askedFor = ($: Values<V>) => sql`unnest(${$.ids}::text[]) as asked(id)`;

  function pagesOf(size: number, isAfter: boolean): Rows<Id, V> {
    return pages(
      `${size} ${isAfter}`,
      () =>
        statement((db, $: Values<V>) => {
          const { from, order } = partOf($, { size, isAfter });
          const found = sql<
            unknown[][]
          >`(select coalesce(json_agg(${asJson(shape)} order by ${order}), '[]') from ${from})`;
          return db.select({ id, found: found.as('found') }).from(askedFor($));
        }, 'json') as Rows<Id, V>,
    );
  }

  const countMany = statement((db, $: Values<V>) =>
    db.select({ id, count: sql<number>`${totalIn($)}::int`.as('count') }).from(askedFor($)),
  );

  return async (db: Db, values: V, { size, after }: SamePageRequest): Promise<Map<Id, Page<Row>>> => {
    const isAfter = after !== undefined;
    let counted: Promise<Map<Id, number>> | undefined;
    const count = async () => new Map((await countMany(db, values)).map((row) => [row.id, row.count]));
    const rows = await pagesOf(size, isAfter)(db, { ...values, ...positionValues(after) });
    return new Map(
      rows.map((row) => [
        row.id,
        pageOf(row.found.map(read), { size, isAfter }, async () => totalOf((await (counted ??= count())).get(row.id))),
      ]),
    );
  };
}
