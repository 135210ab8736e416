/**
 * Stryker passes over whatever is asserted `as const`, and so over the tables that hold most of the rules. An assertion
 * does nothing at run time; here it is taken off each file before the file is mutated. Nothing is ignored.
 */
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

const unasserted = {
  shouldIgnore(path) {
    if (path.isProgram())
      path.traverse({ TSAsExpression: (assertion) => void assertion.replaceWith(assertion.node.expression) });
  },
};

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'tables', unasserted)];
