/** One operation opens one session at most: a hundred aliases of a log-in would be a hundred guesses in one request. */
import { GraphQLError, Kind, type ASTVisitor, type SelectionSetNode, type ValidationContext } from 'graphql';
import { OPERATIONS } from '../operations/index.js';

const ENTRIES = new Set(
  Object.values(OPERATIONS)
    .filter(({ budget }) => budget === 'logInPerAddress' || budget === 'signUp')
    .map(({ name }) => name),
);

export function oneEntryRule(context: ValidationContext): ASTVisitor {
  return {
    OperationDefinition(operation) {
      const fragments = context.getRecursivelyReferencedFragments(operation);
      const entries = new Set([operation, ...fragments].flatMap(({ selectionSet }) => entriesIn(selectionSet)));
      if (entries.size > 1) context.reportError(new GraphQLError('An operation may carry one log-in or one sign-up.', { nodes: operation }));
    },
  };
}

/** By the names they answer under: two selections of one name are one call. */
function entriesIn({ selections }: SelectionSetNode): string[] {
  return selections.flatMap((selection) => {
    if (selection.kind === Kind.INLINE_FRAGMENT) return entriesIn(selection.selectionSet);
    if (selection.kind === Kind.FRAGMENT_SPREAD || !ENTRIES.has(selection.name.value)) return [];
    return [(selection.alias ?? selection.name).value];
  });
}
