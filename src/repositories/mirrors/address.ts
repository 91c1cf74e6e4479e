import type { Ctx } from '../../ctx.ts'

/** What an address is sealed for: one that is pushed to, or one that is pulled from. */
const purposes = { push: 'remote_mirrors.url', pull: 'pull_mirrors.url' } as const
type Direction = keyof typeof purposes

/** Keeps the address of another server with the name and password in it. */
export function sealAddress(ctx: Pick<Ctx, 'vault'>, direction: Direction, url: string): string {
  return ctx.vault.seal(url, purposes[direction])
}

export function openAddress(
  ctx: Pick<Ctx, 'vault'>,
  direction: Direction,
  { sealed_url: sealed }: { readonly sealed_url: string },
): string {
  return ctx.vault.open(sealed, purposes[direction])
}

/** The address as it is shown: stars for name and password (docs/contract/D §1.2). */
export function maskedAddress(text: string): string {
  const { username, password } = new URL(text)
  if (username === '' && password === '') return text
  const stars = [username, password].map((part) => (part === '' ? '' : '*****'))
  return text.replace(/\/\/[^/?#]*@/, `//${stars.filter(Boolean).join(':')}@`)
}
