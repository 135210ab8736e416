/** Relay connections. A part of a connection is computed only if it is selected. */
import { fieldOptions } from './field.js';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { cursorOf } from '../../platform/call/paging.js';
import type { Page, Total } from '../../platform/db/pages/page.js';

@ObjectType({ description: 'Which part of its list a page is.' })
export class PageInfo {
  @Field(() => Boolean, fieldOptions('Whether more entries follow.'))
  hasNextPage: boolean;

  @Field(() => Boolean, fieldOptions('Whether entries come before this page.'))
  hasPreviousPage: boolean;

  @Field(
    () => String,
    fieldOptions(
      'The cursor of the first entry: pass it as `before` to read backwards. Null on an empty page.',
      'nullable',
    ),
  )
  startCursor: string | null;

  @Field(() => String, fieldOptions('The cursor of the last entry: pass it as `after` to read on.', 'nullable'))
  endCursor: string | null;
}

@ArgsType()
export class PageArgs {
  @Field(() => Int, { nullable: true, description: 'How many entries to read: 1 to 100; 20 by default.' })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Read on from behind this cursor.' })
  after?: string | null;

  @Field(() => Int, {
    nullable: true,
    description: 'How many entries to read from the end, or from `before`: 1 to 100. They come in the same order.',
  })
  last?: number | null;

  @Field(() => String, { nullable: true, description: 'Read backwards from this cursor, as many as `last` says.' })
  before?: string | null;
}

export interface Edge<Node> {
  cursor: string;
  node: Node;
}

/** A page as a connection. */
export class Connection<Node> {
  #total: Promise<Total> | undefined;

  constructor(
    readonly page: Page<Node>,
    private readonly cursorAt: (node: Node) => string = (node) => cursorOf(page.positionOf(node)),
  ) {}

  get nodes(): readonly Node[] {
    return this.page.rows;
  }

  get edges(): Edge<Node>[] {
    return this.page.rows.map((node) => ({ cursor: this.cursorAt(node), node }));
  }

  get pageInfo(): PageInfo {
    return new PageInfoOf(this.page, this.cursorAt);
  }

  get totalCount(): Promise<number> {
    return this.#counted().then(({ count }) => count);
  }

  get totalCountCapped(): Promise<boolean> {
    return this.#counted().then(({ isCapped }) => isCapped);
  }

  /** Counted once for both fields. */
  #counted(): Promise<Total> {
    return (this.#total ??= this.page.total());
  }
}

/**
 * A class, because an accessor in an object literal would give every page its own hidden class, kept until the next
 * major garbage collection.
 */
class PageInfoOf<Node> implements PageInfo {
  constructor(
    private readonly page: Page<Node>,
    private readonly cursorAt: (node: Node) => string,
  ) {}

  get hasNextPage(): boolean {
    return this.page.hasNext;
  }

  get hasPreviousPage(): boolean {
    return this.page.hasPrevious;
  }

  get startCursor(): string | null {
    return this.#cursorOf(this.page.rows[0]);
  }

  get endCursor(): string | null {
    return this.#cursorOf(this.page.rows.at(-1));
  }

  #cursorOf(node: Node | undefined): string | null {
    return node === undefined ? null : this.cursorAt(node);
  }
}

/** The connection and edge types of one kind of node. */
export function connectionType<Node extends object>(name: string, node: () => new () => Node, entries: string) {
  @ObjectType(`${name}Edge`, { description: `One of ${entries}, with its place in the list.` })
  class NodeEdge {
    @Field(() => String, fieldOptions('The place in the list: pass it as `after` to read on from here.'))
    cursor: string;

    @Field(node, fieldOptions('The entry itself.'))
    node: Node;
  }

  @ObjectType(`${name}Connection`, { description: `A page of ${entries}.` })
  class NodeConnection {
    static readonly Edge = NodeEdge;

    @Field(() => [NodeEdge], fieldOptions('The entries with their cursors.'))
    edges: NodeEdge[];

    @Field(() => [node()], fieldOptions('The entries alone.'))
    nodes: Node[];

    @Field(() => PageInfo, fieldOptions('Which part of the list this page is.'))
    pageInfo: PageInfo;

    @Field(() => Int, {
      simple: true,
      description:
        'How many entries the list has: exact up to 10,000, or 1,000 of a search, where counting stops. To read all, ' +
        'go by `pageInfo`.',
    })
    totalCount: number;

    @Field(() => Boolean, fieldOptions('Whether there are more entries than `totalCount` says.'))
    totalCountCapped: boolean;
  }

  return NodeConnection;
}
