import { diffWordsWithSpace } from 'diff'

/** `changed title from **{-old-}** to **{+new+}**`, changed parts marked (docs/contract/B-resolved §11.3). */
export function titleChange(before: string, after: string): string {
  const parts = diffWordsWithSpace(before, after)
  const old = parts
    .map((part) => (part.added ? '' : part.removed ? `{-${part.value}-}` : part.value))
    .join('')
  const now = parts
    .map((part) => (part.removed ? '' : part.added ? `{+${part.value}+}` : part.value))
    .join('')
  return `changed title from **${old}** to **${now}**`
}
