import { expect } from 'vitest'
import { Browser, type Shown } from './browser.ts'
import type { World } from './world.ts'

export const PASSWORD = 'correct horse battery'

/** A browser in which somebody of the world is signed in; an administrator gives them the password first. */
export async function signedInBrowser(
  world: World,
  { id, username }: { readonly id: number; readonly username: string },
): Promise<Browser> {
  await world.root.put(`/users/${id}`, { password: PASSWORD })
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
