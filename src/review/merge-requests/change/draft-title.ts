const draftMark = /^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i

/** Whether a title marks a draft: a leading `[Draft]`, `(Draft)` or `Draft:` in any letter case (docs/contract/D §1.10). */
export function isDraftTitle(title: string): boolean {
  return draftMark.test(title)
}

/** The title without its draft mark; a mark alone stays. */
export function withoutDraftMark(title: string): string {
  let plain = title
  while (draftMark.test(plain)) plain = plain.replace(draftMark, '')
  return plain === '' ? title : plain
}

/** The title with a draft mark, which it may have already. */
export function withDraftMark(title: string): string {
  return isDraftTitle(title) ? title : `Draft: ${title}`
}
