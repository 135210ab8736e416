/** An error as it is sent, where graphql-ws asks for one that is still to be written. */
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { REFUSALS } from '../../rules/errors.js';

export class SentError extends GraphQLError {
  constructor(readonly sent: GraphQLFormattedError) {
    super(sent.message);
  }
}

/** Whatever is not ours says nothing about itself. */
export function asSent(error: GraphQLError): GraphQLFormattedError {
  if (error instanceof SentError) return error.sent;
  const [status, message] = REFUSALS.INTERNAL;
  return { message, extensions: { code: 'INTERNAL', status } };
}
