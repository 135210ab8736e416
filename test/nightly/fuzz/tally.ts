/** What a run has covered: the requests of each kind, their responses, and the parts of the service that really ran. */
import type { Json } from '../../setup/app.js';
import { ALL_FIELDS } from './documents/documents.js';
import { DOCUMENTED } from './requests/operations.js';
import type { Request, Selected } from './requests/requests.js';
import type { Stock } from './requests/stock.js';
import type { Reply } from './wire.js';

const SLOWEST = 5;

export class Tally {
  readonly operations = new Set<string>();
  readonly fields = new Set<string>();
  private readonly kinds = new Map<string, number>();
  private readonly statuses = new Map<string, number>();
  private readonly tried = new Map<string, { calls: number; successes: number }>();
  private slowest: { ms: number; what: string }[] = [];
  requests = 0;

  constructor(private readonly stock: Stock) {}

  count(request: Request, reply: Reply): void {
    this.requests += 1;
    const [api = ''] = request.kind.split(/[ :]/);
    add(this.kinds, request.kind.replace(/: .*/, ': …').replace(/^raw.*/, 'raw'));
    for (const status of reply.statuses.length > 0 ? reply.statuses : [0])
      add(this.statuses, `${api} ${status || 'closed'}`);
    if (reply.ms > (this.slowest.at(-1)?.ms ?? 0) || this.slowest.length < SLOWEST) {
      this.slowest = [
        ...this.slowest,
        { ms: reply.ms, what: `${request.kind} ${request.method} ${request.target.slice(0, 80)}` },
      ]
        .sort((a, b) => b.ms - a.ms)
        .slice(0, SLOWEST);
    }
    if (request.operation) this.countOperation(request.operation, request, reply);
    if (request.selected) this.countFields(request.selected, reply);
  }

  private countOperation(id: string, request: Request, reply: Reply): void {
    const so = this.tried.get(id) ?? { calls: 0, successes: 0 };
    const isDry = request.headers.some(([name, value]) => name === 'Dry-Run' && value === 'true');
    const ok = reply.status >= 200 && reply.status < 300;
    this.tried.set(id, { calls: so.calls + 1, successes: so.successes + Number(ok) });
    if (ok && !isDry) this.operations.add(id);
    const cursor = /[?&]after=([^&>]+)/.exec(reply.headers.get('link') ?? '')?.[1];
    if (cursor) this.stock.keepCursor(id, decodeURIComponent(cursor));
  }

  private countFields(selected: readonly Selected[], reply: Reply): void {
    const so = this.tried.get('graphql') ?? { calls: 0, successes: 0 };
    const answer: Json = reply.status === 200 && reply.body.length > 0 ? JSON.parse(reply.body.toString()) : undefined;
    const ok = answer?.data && answer.errors === undefined;
    this.tried.set('graphql', { calls: so.calls + 1, successes: so.successes + Number(Boolean(ok)) });
    if (ok) this.countIn(selected, answer.data);
  }

  /** A field counts as executed if its key is in the response. */
  private countIn(selected: readonly Selected[], data: Json): void {
    if (Array.isArray(data)) for (const one of data) this.countIn(selected, one);
    if (typeof data !== 'object' || data === null || Array.isArray(data)) return;
    for (const { key, field, on, inner } of selected) {
      if (!(key in data) || (on !== undefined && data.__typename !== on)) continue;
      this.fields.add(field);
      const [type = '', name] = field.split('.');
      if (name === 'cursor') this.stock.keepCursor(type.replace(/Edge$/, 'Connection'), data[key]);
      if (inner.length > 0) this.countIn(inner, data[key]);
    }
  }

  get unreachedOperations(): string[] {
    return DOCUMENTED.map(({ id }) => id).filter((id) => !this.operations.has(id));
  }

  get unreachedFields(): string[] {
    return ALL_FIELDS.filter((field) => !this.fields.has(field));
  }

  /** The percentage of requests meant to succeed that did. */
  get successShare(): number {
    const all = [...this.tried.values()];
    return (
      (100 * all.reduce((sum, { successes }) => sum + successes, 0)) /
      Math.max(
        1,
        all.reduce((sum, { calls }) => sum + calls, 0),
      )
    );
  }

  print(): string {
    const worst = [...this.tried]
      .map(([id, { calls, successes }]) => [id, successes / calls] as const)
      .sort((a, b) => a[1] - b[1])
      .slice(0, 8);
    return [
      `Kinds: ${list(this.kinds)}`,
      `Answers: ${list(this.statuses)}`,
      `REST operations that ` +
        `succeeded: ${this.operations.size} of ${DOCUMENTED.length}${missing(this.unreachedOperations)}`,
      `GraphQL fields that were executed: ${this.fields.size} of ${ALL_FIELDS.length}${missing(this.unreachedFields)}`,
      `Valid requests that ` +
        `succeeded: ${this.successShare.toFixed(1)} %; the ` +
        `least: ${worst.map(([id, share]) => `${id} ${Math.round(100 * share)} %`).join(', ')}`,
      `The slowest: ${this.slowest.map(({ ms, what }) => `${ms.toFixed(0)} ms ${what}`).join('; ')}`,
    ].join('\n');
  }
}

function add(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function list(counts: ReadonlyMap<string, number>): string {
  return [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function missing(names: readonly string[]): string {
  return names.length > 0 ? ` (not ${names.slice(0, 100).join(', ')})` : '';
}
