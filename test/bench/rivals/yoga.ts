/** GraphQL Yoga on `node:http`, with its default caches for parsed and validated documents. */
import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';
import { environment } from './environment.js';
import { listening, observe } from './observed.js';
import { contextOf, RESOLVERS, type Context } from './resolvers.js';
import { TYPE_DEFS } from './schema.js';

const yoga = createYoga<object, Context>({
  schema: createSchema<Context>({ typeDefs: TYPE_DEFS, resolvers: RESOLVERS }),
  context: ({ request }: { request: Request }) => contextOf(request.headers.get('authorization') ?? undefined),
  graphiql: false,
  landingPage: false,
  logging: false,
});

const port = Number(environment('PORT'));
createServer((request, response) => {
  observe(request, response, () => 'POST /graphql');
  void yoga(request, response);
}).listen(port, '127.0.0.1', () => listening('yoga', port));
