/** Replaces the part of a page between two comments that readers don't see. */
export function between(name: string, page: string, part: string): string {
  const place = new RegExp(`(?<=<!-- ${name} -->\n).*(?=<!-- /${name} -->)`, 's');
  if (!place.test(page)) throw new Error(`The page lacks its comments <!-- ${name} --> and <!-- /${name} -->.`);
  return page.replace(place, () => part);
}
