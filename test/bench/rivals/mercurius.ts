/** Mercurius on Fastify, with its compiled queries. */
import Fastify from 'fastify';
import mercurius from 'mercurius';
import { environment } from './environment.js';
import { listening, observe } from './observed.js';
import { contextOf, RESOLVERS } from './resolvers.js';
import { TYPE_DEFS } from './schema.js';

const app = Fastify({ logger: false });
app.addHook('onRequest', (request, reply, done) => {
  observe(request.raw, reply.raw, () => 'POST /graphql');
  done();
});
await app.register(mercurius, {
  schema: TYPE_DEFS,
  resolvers: RESOLVERS as never,
  jit: 1,
  graphiql: false,
  context: (request) => contextOf(request.headers.authorization),
});

const port = Number(environment('PORT'));
await app.listen({ port, host: '127.0.0.1' });
listening('mercurius', port);
