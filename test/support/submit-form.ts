import { scryptSync } from 'node:crypto'
import { expect } from 'vitest'
import { Browser, type Shown } from './browser.ts'
import type { World } from './world.ts'

export const PASSWORD = 'correct horse battery'

/**
 * The common password as it is stored, with a salt for all and the least work: what the server does to hash or to try
 * one takes a tenth of a second of a core.
 */
const STORED = [
  ...['scrypt', 2, 8, 1, 'A'.repeat(22)],
  scryptSync(PASSWORD, Buffer.alloc(16), 32, { N: 2, r: 8, p: 1 }).toString('base64url'),
].join('$')

/** Gives somebody the common password, as if they always had it: nothing follows from it. */
export async function givePassword(world: World, userId: number): Promise<void> {
  const changed = { password_hash: STORED }
  await world.ctx.db.updateTable('users').set(changed).where('id', '=', userId).execute()
}

/** A browser in which somebody of the world is signed in, with the common password. */
export async function signedInBrowser(
  world: World,
  { id, username }: { readonly id: number; readonly username: string },
): Promise<Browser> {
  await givePassword(world, id)
  const browser = new Browser(world.url)
  expect((await browser.signIn(username, PASSWORD)).status).toBe(303)
  return browser
}

/** Sends the one form of a page that goes to an address, with its hidden fields. */
export async function submitForm(
  browser: Browser,
  page: string,
  action: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Shown> {
  const shown = await browser.get(page)
  const forms = shown.text.match(/<form[\s\S]*?<\/form>/g) ?? []
  // The server may lie below a path of another site.
  const found = forms.filter((form) =>
    [...form.matchAll(/action="([^"]*)"/g)].some(([, at = '']) => at.endsWith(action)),
  )
  expect(found, `forms of ${page} that go to ${action}`).not.toEqual([])
  return await browser.submit({ ...shown, text: found[0] ?? '' }, action, fields)
}
