import { afterAll, beforeAll, expect, test } from 'vitest'
import { pages } from '../../src/web/pages.ts'
import { openPageWorld, type PageWorld } from '../support/page-world.ts'

let given: PageWorld
beforeAll(async () => {
  given = await openPageWorld()
})
afterAll(() => given.world.close())

/** Pages that show nothing that one call of the API gives, and why. */
const ownWords = new Map([
  ['/', 'brings several lists together'],
  ['/help', 'is words for people'],
  ['/users/sign_in', 'is a form'],
  ['/users/sign_in/second_factor', 'is a step of signing in'],
  ['/users/sign_up', 'is a form'],
  ['/-/users/terms', 'asks a person'],
  ['/users/password/new', 'is a form'],
  ['/users/password/edit', 'is a form'],
  ['/users/confirmation/new', 'is a form'],
  ['/users/confirmation', 'is opened from a mail'],
  ['/-/sent_notifications/:key/unsubscribe', 'is opened from a mail'],
  ['/oauth/authorize', 'asks a person'],
  ['/oauth/device', 'asks a person'],
  ['/-/user_settings/password', 'is a form'],
  ['/projects/new', 'is a form'],
  ['/groups/new', 'is a form'],
  ['/*project/-/compare', 'is a form'],
  ['/*project/-/releases/new', 'is a form'],
  ['/*project/-/merge_requests/new', 'is a form'],
])

const headers = { Accept: 'application/json' }

async function leadOf(address: string, cookies: ReadonlyMap<string, string>) {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const asked = { headers: { ...headers, Cookie: cookie }, redirect: 'manual' } as const
  const { status, headers: sent } = await fetch(given.world.url + address, asked)
  const to = sent.get('location')
  return { status, to: to?.startsWith('/api/v4/') ? to.slice('/api/v4'.length) : undefined }
}

test('each page leads programs to the call of the API that gives what it shows', async () => {
  const { browser, caller } = given.viewer('owner')
  const found: unknown[] = []
  for (const page of pages) {
    const address = given.exampleOf(page)
    const { status, to } = await leadOf(address, browser.cookies)
    if (ownWords.has(page.address)) {
      if (to !== undefined) found.push([page.address, 'leads to', to])
      continue
    }
    const answer = to === undefined ? undefined : await caller.get(to)
    if (answer?.status !== 200) found.push([page.address, status, to, answer?.status])
  }
  expect(found).toEqual([])
})

test('what may not be read redirects to no address that names it', async () => {
  const project = given.exampleOf({ address: '/*project' })
  const { browser } = given.viewer('stranger')
  for (const at of ['tree', 'blob', 'commits', 'blame', 'graphs', 'edit']) {
    const known = await leadOf(`${project}/-/${at}/feature/README.md`, browser.cookies)
    expect([at, known.status, known.to]).toEqual([at, 404, undefined])
  }
  const guest = given.viewer('guest').browser
  const { to } = await leadOf(`${project}/-/tree/feature/README.md`, guest.cookies)
  expect(to).toBeUndefined()
})
