/**
 * Refuses, at start, decorators of type-graphql that would have no effect: there is no `authChecker`, and a plain field
 * is read from its row without a resolver.
 */
import { getMetadataStorage } from 'type-graphql';

export function refuseSilentDecorators(): void {
  const { authorizedResolver, authorizedFields, middlewares, resolverMiddlewares, fields } = getMetadataStorage();
  const plain = fields.filter(({ simple }) => simple === true);
  const isPlain = ({ target, fieldName }: (typeof middlewares)[number]) =>
    plain.some((field) => field.target === target && field.name === fieldName);
  const hasPlain = ({ target }: (typeof resolverMiddlewares)[number]) => plain.some((field) => field.target === target);
  const found = [
    ...authorizedResolver.map(({ target }) => `@Authorized on ${target.name}`),
    ...authorizedFields.map(({ target, fieldName }) => `@Authorized on ${target.name}.${fieldName}`),
    ...resolverMiddlewares.filter(hasPlain).map(({ target }) => `@UseMiddleware on ${target.name}`),
    ...middlewares.filter(isPlain).map(({ target, fieldName }) => `@UseMiddleware on ${target.name}.${fieldName}`),
  ];
  if (found.length === 0) return;
  throw new Error(
    `These would do nothing: ${found.join(', ')}. ` +
      'Who may call an operation is written in the operation, and who may read a field in its readBy ' +
      'in src/rules/entities/.',
  );
}
