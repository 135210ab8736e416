/** A description for the reference to show while the server has none of its own. */
const properties = Object.fromEntries(
  ['email', 'password', 'first_name', 'last_name'].map((name) => [name, { type: 'string' }]),
);

export const HAND_MADE_OPENAPI = {
  openapi: '3.1.0',
  info: { title: 'Job Marketplace', version: '1', description: 'Made by hand for a test.' },
  servers: [{ url: '/v1' }],
  security: [{ bearer: [] }],
  paths: {
    '/auth/signup/homeowner': {
      post: {
        summary: 'Join as a homeowner',
        tags: ['Accounts'],
        security: [],
        requestBody: { required: true, content: { 'application/json': { schema: { type: 'object', properties } } } },
        responses: { 201: { description: 'The session.' } },
      },
    },
    '/me': {
      get: {
        summary: 'Read yourself',
        tags: ['Accounts'],
        responses: { 200: { description: 'You.' }, 401: { description: 'No token.' } },
      },
    },
  },
  components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } } },
};
