/**
 * What a plain field says about itself. It is read off its row as it stands: whoever may not read it has got null
 * there.
 */
export function says(description: string, nullable?: 'nullable') {
  return { description, simple: true, nullable: nullable === 'nullable' };
}
