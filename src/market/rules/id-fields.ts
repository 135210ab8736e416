/** The fields in entities and inputs that contain identifiers. */
import * as ids from '../../platform/ids.js';
import { prefixedId, prefixedIdInPath, prefixedIdOfAny } from '../../platform/fields/values.js';
import { ID_PREFIXES, type Id, type IdKind } from './ids.js';

export function idOf<K extends IdKind>(kind: K) {
  return prefixedId(ID_PREFIXES[kind], kind);
}

export function idOfAny<K extends IdKind>(...kinds: readonly K[]) {
  return prefixedIdOfAny(kinds.map((kind) => ID_PREFIXES[kind]));
}

export function idInPath<K extends IdKind>(kind: K) {
  return prefixedIdInPath(ID_PREFIXES[kind], kind);
}

/** An entity's own identifier is always its first field. */
export function identifier<K extends IdKind>(kind: K) {
  return { type: idOf(kind), description: `The ID, which starts with \`${ID_PREFIXES[kind]}_\`.` };
}

export function idPattern(kind: IdKind): string {
  return ids.idPattern(ID_PREFIXES[kind]);
}

export function exampleId<K extends IdKind>(kind: K): Id<K> {
  return ids.exampleId(ID_PREFIXES[kind]);
}
