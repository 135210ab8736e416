/** Relay connections. Computes only the parts that are selected. */
import { fieldOptions } from './field.js';
import { ArgsType, Field, Int, ObjectType } from 'type-graphql';
import { cursorOf } from '../../platform/call/paging.js';
import type { Page, Total } from '../../platform/db/pages/page.js';

@ObjectType({ description: 'The position of a page in its list.' })
export class PageInfo {
  @Field(() => Boolean, fieldOptions('True if there are more entries after this page.'))
  hasNextPage: boolean;

  @Field(() => Boolean, fieldOptions('True if there are entries before this page.'))
  hasPreviousPage: boolean;

  @Field(
    () => String,
    fieldOptions(
      'The cursor of the first entry. Pass it as `before` to read backward. Null on an empty page.',
      'nullable',
    ),
  )
  startCursor: string | null;

  @Field(
    () => String,
    fieldOptions(
      'The cursor of the last entry. Pass it as `after` to read the next page. Null on an empty page.',
      'nullable',
    ),
  )
  endCursor: string | null;
}

@ArgsType()
export class PageArgs {
  @Field(() => Int, {
    nullable: true,
    description: 'The number of entries to return, from 1 to 100. The default is 20.',
  })
  first?: number | null;

  @Field(() => String, { nullable: true, description: 'Returns the entries after this cursor.' })
  after?: string | null;

  @Field(() => Int, {
    nullable: true,
    description:
      'The number of entries to return from the end, or before `before`, from 1 to 100. The order stays the same.',
  })
  last?: number | null;

  @Field(() => String, {
    nullable: true,
    description: 'Returns the last entries before this cursor. Use it with `last`.',
  })
  before?: string | null;
}

export interface Edge<Node> {
  cursor: string;
  node: Node;
}

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

  /** Counts the entries once for both fields that need the total. */
  #counted(): Promise<Total> {
    return (this.#total ??= this.page.total());
  }
}

/**
 * A class, because object literals with accessors would each get a hidden class that stays until the next major
 * collection.
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

export function connectionType<Node extends object>(name: string, node: () => new () => Node, entries: string) {
  @ObjectType(`${name}Edge`, { description: `An entry in a list of ${entries}.` })
  class NodeEdge {
    @Field(() => String, fieldOptions('The entry’s cursor. Pass it as `after` to read the entries after it.'))
    cursor: string;

    @Field(node, fieldOptions('The entry.'))
    node: Node;
  }

  @ObjectType(`${name}Connection`, { description: `A page of ${entries}.` })
  class NodeConnection {
    static readonly Edge = NodeEdge;

    @Field(() => [NodeEdge], fieldOptions('The entries with their cursors.'))
    edges: NodeEdge[];

    @Field(() => [node()], fieldOptions('The entries without their cursors.'))
    nodes: Node[];

    @Field(() => PageInfo, fieldOptions('The position of this page in the list.'))
    pageInfo: PageInfo;

    @Field(() => Int, {
      simple: true,
      description:
        'The number of entries in the list. Counting stops at 10,000, or at 1,000 for a search. To read the ' +
        'whole list, follow `pageInfo`.',
    })
    totalCount: number;

    @Field(() => Boolean, fieldOptions('True if the list has more entries than `totalCount`.'))
    totalCountCapped: boolean;
  }

  return NodeConnection;
}
