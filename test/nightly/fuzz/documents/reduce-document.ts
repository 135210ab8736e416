/** Reduces a failing document: leaves out part after part, as long as it still fails. */
import { Kind, visit, type ASTNode, type DocumentNode } from 'graphql';
import { replaced } from './sites.js';

const TRIES_MAX = 300;

export async function reducedDocument(
  document: DocumentNode,
  stillFails: (smaller: DocumentNode) => Promise<boolean>,
): Promise<DocumentNode> {
  let smallest = document;
  let tries = 0;
  for (let found = true; found;) {
    found = false;
    for (const part of partsOf(smallest)) {
      if ((tries += 1) > TRIES_MAX) return smallest;
      const candidate = withoutUnused(replaced(smallest, part, null));
      if (!(await stillFails(candidate))) continue;
      smallest = candidate;
      found = true;
      break;
    }
  }
  return smallest;
}

/** The outermost parts come first, along with everything inside them. */
function partsOf(document: DocumentNode): ASTNode[] {
  const parts: ASTNode[] = [];
  visit(document, {
    enter: (node, _key, parent) => {
      const siblings = Array.isArray(parent) ? parent.length : 0;
      if (node.kind === Kind.DIRECTIVE || node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD)
        parts.push(node);
      if (siblings > 1 && LEAVABLE.has(node.kind)) parts.push(node);
    },
  });
  return parts;
}

const LEAVABLE: ReadonlySet<string> = new Set([
  Kind.OPERATION_DEFINITION,
  Kind.FIELD,
  Kind.INLINE_FRAGMENT,
  Kind.FRAGMENT_SPREAD,
]);

/** Unused fragments and variables would make the document invalid. */
function withoutUnused(document: DocumentNode): DocumentNode {
  const used = new Set<string>();
  visit(document, {
    FragmentSpread: ({ name }) => void used.add(`...${name.value}`),
    VariableDefinition: () => false,
    Variable: ({ name }) => void used.add(`$${name.value}`),
  });
  const smaller: DocumentNode = visit(document, {
    FragmentDefinition: ({ name }) => (used.has(`...${name.value}`) ? undefined : null),
    VariableDefinition: ({ variable }) => (used.has(`$${variable.name.value}`) ? undefined : null),
  });
  return smaller.definitions.length < document.definitions.length ? withoutUnused(smaller) : smaller;
}
