/** An error that is formatted already, in the class that graphql-ws and graphql-sse expect. */
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { REFUSALS } from '../../rules/errors.js';

export class SentError extends GraphQLError {
  constructor(readonly sent: GraphQLFormattedError) {
    super(sent.message);
  }
}

/** An error of other code reveals nothing about itself. */
export function asSent(error: GraphQLError): GraphQLFormattedError {
  if (error instanceof SentError) return error.sent;
  const [status, message] = REFUSALS.INTERNAL;
  return { message, extensions: { code: 'INTERNAL', status } };
}
