import type { Ctx } from '../../ctx.ts'

const PURPOSE = 'remote_mirrors.url'

/** Keeps the address of another server with the name and password in it. */
export function sealAddress(ctx: Pick<Ctx, 'vault'>, url: string): string {
  return ctx.vault.seal(url, PURPOSE)
}

export function openAddress(ctx: Pick<Ctx, 'vault'>, sealed: string): string {
  return ctx.vault.open(sealed, PURPOSE)
}

/** The address as it is shown: stars for name and password (docs/contract/D §1.2). */
export function maskedAddress(text: string): string {
  const { username, password } = new URL(text)
  if (username === '' && password === '') return text
  const stars = [username, password].map((part) => (part === '' ? '' : '*****'))
  return text.replace(/\/\/[^/?#]*@/, `//${stars.filter(Boolean).join(':')}@`)
}
