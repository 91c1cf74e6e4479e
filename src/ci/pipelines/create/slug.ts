/** A name as part of host names: lower case, at most 63 bytes, no dash at its ends (docs/contract/D §5.6). */
export function slugOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^0-9a-z]/g, '-')
    .slice(0, 63)
    .replace(/^-+/, '')
    .replace(/-+$/, '')
}
