/**
 * The API's own steps around every operation. Apollo calls them as a plugin, and `known-documents.ts` calls them
 * directly.
 */
import type { ApolloServerPlugin } from '@apollo/server';
import { GraphQLError, type DocumentNode, type GraphQLFormattedError, type OperationDefinitionNode } from 'graphql';
import type { CallerRequest } from '../call/caller.js';
import { PLATFORM_REFUSALS } from '../errors.js';
import type { LimitCheck, Context } from './context.js';
import { limitErrors } from './failures.js';
import type { Limits } from './limits/document-limits.js';
import { retryAfterIfUnavailable } from './errors.js';
import type { Operation } from '../call/operation.js';
import { isValidDryRun, wantsDryRun } from '../call/dry-run.js';
import { invalidField } from '../call/validation.js';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';

export interface ValidOperation {
  readonly document: DocumentNode;
  readonly hash: string;
  readonly operation: OperationDefinitionNode;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly context: Context;
}

/** The parts of a response that Apollo's plugins can change. */
export interface Result {
  data?: Record<string, unknown> | null | undefined;
  errors?: readonly GraphQLFormattedError[] | undefined;
  extensions?: Record<string, unknown> | undefined;
}

export type FormatError = (formattedError: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;

export interface OperationHooks {
  /**
   * Checks the document's limits and the headers, and begins the dry run that the headers ask for. Throws a refusal if
   * the headers don't allow the operation.
   */
  before(operation: ValidOperation): LimitCheck;
  /** Completes the response. Returns the seconds until a retry if its status is 503. */
  after(context: Context, check: LimitCheck | undefined, result: Result): number | undefined;
}

export type Operations = ReadonlyMap<string, Operation<unknown, unknown>>;

export function createHooks(limits: Limits, format: FormatError, operations: Operations): OperationHooks {
  return {
    before: ({ document, hash, operation, variables, context }) => {
      context.caller.request.record.document = { name: operation.name?.value, hash };
      const measure = limits.measure(document, operation);
      if (measure.refusals.length > 0) return { refusals: measure.refusals };
      checkHeadersAndBeginDryRun(context, measure.mutations, operations);
      const isStream = context.opening !== undefined;
      return (context.limitCheck ??= limits.check({ operation, measure, variables, isStream }));
    },
    after: (context, check, result) => {
      if (check) {
        const { cost, refusals } = check;
        if (cost) result.extensions = { ...result.extensions, cost };
        if (refusals.length > 0) result.errors = refusals.map((error) => format(error.toJSON(), error));
      }
      if (!result.errors) return undefined;
      const retryAfter = retryAfterIfUnavailable(result);
      completeErrors(result, result.errors, context.caller.request);
      return retryAfter;
    },
  };
}

/** Limits and logs the errors. Each one gets the request's ID, so users can quote it to the operator. */
function completeErrors(
  result: Result,
  allErrors: readonly GraphQLFormattedError[],
  { requestId, record }: CallerRequest,
): void {
  const { errors, leftOut } = limitErrors(allErrors);
  record.addErrors(allErrors);
  result.errors = errors.map((error) => ({ ...error, extensions: { ...error.extensions, requestId } }));
  if (leftOut > 0) result.extensions = { ...result.extensions, errorsLeftOut: leftOut };
}

export function asPlugin(
  { before, after }: OperationHooks,
  onDocument: (text: string, document: Pick<ValidOperation, 'document' | 'hash'>) => void,
  { assertFewLines, refusalOfThrown }: Limits,
): ApolloServerPlugin<Context> {
  return {
    // Without this, Apollo would send an internal error.
    unexpectedErrorProcessingRequest: async ({ error }) => throwFirst([refusalOfThrown(error)]),
    requestDidStart: async () => {
      let check: LimitCheck | undefined;
      return {
        didResolveSource: async ({ contextValue, queryHash, source }) => {
          contextValue.caller.request.record.document = { name: undefined, hash: queryHash };
          assertFewLines(source);
        },
        didResolveOperation: async ({
          document,
          operation,
          request,
          source,
          queryHash: hash,
          contextValue: context,
        }) => {
          onDocument(source, { document, hash });
          // No operation has the requested name. Apollo rejects the request during execution.
          if (!operation) return;
          check = before({ document, hash, operation, variables: request.variables ?? {}, context });
          throwFirst(check.refusals);
        },
        willSendResponse: async ({ contextValue, response: { body, http } }) => {
          if (body.kind !== 'single') return;
          const retryAfter = after(contextValue, check, body.singleResult);
          if (retryAfter === undefined) return;
          http.status = PLATFORM_REFUSALS.OVERLOADED[0];
          http.headers.set('retry-after', String(retryAfter));
        },
      };
    },
  };
}

/** Apollo accepts only one error here. The rest are added to its response later. */
function throwFirst([first]: readonly (GraphQLError | undefined)[]): void {
  if (first) throw first;
}

/** Refuses mutations that the headers don't allow. Starts a dry run if the headers ask for one. */
function checkHeadersAndBeginDryRun(
  { caller, dryRunHeader }: Context,
  mutations: readonly string[],
  operations: Operations,
): void {
  // An idempotency key belongs to a single result.
  if (caller.request.idempotencyKey !== undefined && mutations.length > 1) {
    throw badHeader('Idempotency-Key', 'allows only one mutation per request. Send the others in separate requests');
  }
  const isIgnored = mutations.length > 0 && mutations.every((name) => operations.get(name)?.ignoresKeyAndDryRun);
  if (!isIgnored && !isValidDryRun(dryRunHeader)) throw badHeader('Dry-Run', 'must be true or false');
  if (!wantsDryRun(dryRunHeader)) return;
  const alone = mutations.filter((name) => mustBeAlone(operations.get(name)));
  if (alone.length > 0 && mutations.length > 1) {
    throw badHeader(
      'Dry-Run',
      `can’t be used for ${alone[0]} together with other mutations. Send ${alone[0]} in a separate request`,
    );
  }
  if (!isIgnored) caller.beginDryRun();
}

/**
 * True for a mutation that can't share a dry run with others. Either it can't be rolled back, or its slow work can't
 * run inside their transaction.
 */
function mustBeAlone(operation: Operation<unknown, unknown> | undefined): boolean {
  return operation?.ignoresKeyAndDryRun === true || operation?.prepare !== undefined;
}

function badHeader(header: string, problem: string): GraphQLError {
  const refusal = invalidField(header, problem);
  const extensions = { http: { status: refusal.status } };
  return new GraphQLError(refusal.message, { originalError: refusal, extensions });
}

/** Turns off the plugins that Apollo adds by default in some environments. */
export const DISABLED_PLUGINS: readonly ApolloServerPlugin<Context>[] = [
  ApolloServerPluginCacheControlDisabled(),
  ApolloServerPluginInlineTraceDisabled(),
  ApolloServerPluginLandingPageDisabled(),
  ApolloServerPluginSchemaReportingDisabled(),
  ApolloServerPluginUsageReportingDisabled(),
];

/** Add other plugins here. With at least one, every request goes through Apollo's whole pipeline. */
export const OTHER_PLUGINS: readonly ApolloServerPlugin<Context>[] = [];
