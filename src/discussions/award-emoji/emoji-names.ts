import characters from 'markdown-it-emoji/lib/data/full.mjs'

/** Votes are counted under one name. */
const votes: Readonly<Record<string, string>> = { '+1': 'thumbsup', '-1': 'thumbsdown' }

/** The name that a reaction is kept under, also with a tone of skin; undefined when no emoji is called so. */
export function emojiName(name: string): string | undefined {
  const plain = name.replace(/_tone[1-5]$/, '')
  if (!Object.hasOwn(characters, plain)) return undefined
  return votes[name] ?? name
}
