/** Completes a field's value for the response, by the field's type. */
import type { FieldNode, GraphQLAbstractType, GraphQLLeafType } from 'graphql';
import { afterFailure, completeLater, isPromise, runFields, settle, whenAllAreThere, whenAllHaveEnded } from './run.js';
import type { Complete, FieldPlan, Path, Selection } from './selection.js';

/** A non-null type. */
export function requiredOf(complete: Complete, place: string): Complete {
  const assertNotNull = (value: unknown) => {
    if (value === null) throw new Error(`Cannot return null for non-nullable field ${place}.`);
    return value;
  };
  return (value, execution, path) => {
    const result = complete(value, execution, path);
    return isPromise(result) ? result.then(assertNotNull) : assertNotNull(result);
  };
}

/** Completes only values that exist. A value that is an Error is a failure. */
function ifPresent(complete: Complete): Complete {
  return (value, execution, path) => {
    if (value == null) return null;
    if (value instanceof Error) throw value;
    return complete(value, execution, path);
  };
}

/** A scalar or an enum, serialized by its type. */
export function leafOf(type: GraphQLLeafType): Complete {
  return ifPresent(serializerOf(type));
}

export function serializerOf(type: GraphQLLeafType): (value: unknown) => unknown {
  return (value) => {
    const output: unknown = type.serialize(value);
    if (output == null)
      throw new Error(
        `Expected \`${type}.serialize(${String(value)})\` to return non-nullable value, returned: ${String(output)}`,
      );
    return output;
  };
}

export function objectOf(selection: Selection): Complete {
  return ifPresent((value, execution, path) => runFields(selection, value, execution, path));
}

/** An object of one of several types, each with its own fields. */
export function anyOf(
  type: GraphQLAbstractType,
  selections: ReadonlyMap<string, Selection>,
  info: FieldPlan['info'],
): Complete {
  return ifPresent((value, execution, path) => {
    const { context, variables } = execution;
    const name = type.resolveType?.(value, context, { ...info, path, variableValues: variables }, type);
    const selection = selections.get(String(name));
    if (!selection) throw new Error(`The resolver of ${type.name} must return the type of an object synchronously.`);
    return runFields(selection, value, execution, path);
  });
}

export function listOf(complete: Complete, isRequired: boolean, nodes: readonly FieldNode[], place: string): Complete {
  return ifPresent((value, execution, path) => {
    if (!Array.isArray(value)) throw new Error(`Expected Iterable, but did not find one for field "${place}".`);
    const output = Array.from<unknown>({ length: value.length });
    let pending: PromiseLike<void>[] | undefined;
    for (let at = 0; at < value.length; at += 1) {
      const entryPath: Path = { prev: path, key: at, typename: undefined };
      try {
        const entry: unknown = value[at];
        const result = isPromise(entry)
          ? completeLater(entry, complete, execution, entryPath)
          : complete(entry, execution, entryPath);
        output[at] = result;
        if (isPromise(result))
          (pending ??= []).push(settle(output, at, result, isRequired, nodes, execution, entryPath));
      } catch (error) {
        if (isRequired && pending) return whenAllHaveEnded(pending, error, nodes, execution, entryPath);
        output[at] = afterFailure(error, isRequired, nodes, execution, entryPath);
      }
    }
    return pending ? whenAllAreThere(pending, output) : output;
  });
}
