/** The places in a document that can be changed, and helpers to build the changed documents. */
import {
  Kind,
  TypeInfo,
  visit,
  visitWithTypeInfo,
  type ASTNode,
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type InlineFragmentNode,
  type NameNode,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql';
import { schema } from './documents.js';

export function operationsIn(document: DocumentNode): OperationDefinitionNode[] {
  return document.definitions.filter((one): one is OperationDefinitionNode => one.kind === Kind.OPERATION_DEFINITION);
}

export interface Sites {
  readonly sets: readonly { node: SelectionSetNode; type: GraphQLCompositeType; isInList: boolean }[];
  readonly selections: readonly { node: SelectionNode; set: SelectionSetNode }[];
  readonly fields: readonly {
    node: FieldNode;
    set: SelectionSetNode;
    definition: GraphQLField<unknown, unknown> | undefined;
  }[];
  readonly values: readonly { node: ValueNode; type: GraphQLInputType; name: string }[];
}

export function sitesIn(document: DocumentNode): Sites {
  const info = new TypeInfo(schema);
  const sets: { node: SelectionSetNode; type: GraphQLCompositeType; isInList: boolean }[] = [];
  const selections: { node: SelectionNode; set: SelectionSetNode }[] = [];
  const fields: { node: FieldNode; set: SelectionSetNode; definition: GraphQLField<unknown, unknown> | undefined }[] =
    [];
  const values: { node: ValueNode; type: GraphQLInputType; name: string }[] = [];
  visit(
    document,
    visitWithTypeInfo(info, {
      enter: (node, _key, _parent, _path, ancestors) => {
        const set = ancestors.findLast(
          (one): one is SelectionSetNode => 'kind' in one && one.kind === Kind.SELECTION_SET,
        );
        const type = info.getParentType();
        if (node.kind === Kind.SELECTION_SET && type)
          sets.push({ node, type, isInList: ancestors.some(isListOfNodes) });
        if (set && isSelection(node)) selections.push({ node, set });
        if (set && node.kind === Kind.FIELD) fields.push({ node, set, definition: info.getFieldDef() ?? undefined });
        // On entering a list, the reported type is already its items' type.
        const expected = node.kind === Kind.LIST ? info.getParentInputType() : info.getInputType();
        if (expected && isLiteral(node)) values.push({ node, type: expected, name: info.getArgument()?.name ?? '' });
      },
    }),
  );
  return { sets, selections, fields, values };
}

function isListOfNodes(node: ASTNode | readonly ASTNode[]): boolean {
  return 'kind' in node && node.kind === Kind.FIELD && (node.name.value === 'nodes' || node.name.value === 'edges');
}

function isSelection(node: ASTNode): node is SelectionNode {
  return node.kind === Kind.FIELD || node.kind === Kind.INLINE_FRAGMENT || node.kind === Kind.FRAGMENT_SPREAD;
}

const LITERALS: ReadonlySet<string> = new Set([
  Kind.INT,
  Kind.FLOAT,
  Kind.STRING,
  Kind.BOOLEAN,
  Kind.NULL,
  Kind.ENUM,
  Kind.LIST,
  Kind.OBJECT,
]);

function isLiteral(node: ASTNode): node is ValueNode {
  return LITERALS.has(node.kind);
}

/** Replaces on leaving a node, because the replacement may contain the original. */
export function replaced(document: DocumentNode, node: ASTNode, by: ASTNode | null): DocumentNode {
  return visit(document, { leave: (one) => (one === node ? by : undefined) });
}

export function named(value: string): NameNode {
  return { kind: Kind.NAME, value };
}

export function setOf(selections: readonly SelectionNode[]): SelectionSetNode {
  return { kind: Kind.SELECTION_SET, selections };
}

export function inline(typeName: string | undefined, selections: readonly SelectionNode[]): InlineFragmentNode {
  const typeCondition =
    typeName === undefined ? undefined : ({ kind: Kind.NAMED_TYPE, name: named(typeName) } as const);
  return { kind: Kind.INLINE_FRAGMENT, ...(typeCondition && { typeCondition }), selectionSet: setOf(selections) };
}

export function spreadOf(name: string): SelectionNode {
  return { kind: Kind.FRAGMENT_SPREAD, name: named(name) };
}
