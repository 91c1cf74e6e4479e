import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pageEndpoints, pages } from '../../src/web/pages.ts'
import { Browser, type Shown } from '../support/browser.ts'
import { openPageWorld, type PageWorld, type Viewer } from '../support/page-world.ts'

let given: PageWorld
beforeAll(async () => {
  given = await openPageWorld()
})
afterAll(() => given.world.close())

/** The calls of the API that a page says it has made. */
function callsOf(text: string): string[] {
  const lines = text.matchAll(/\/api\/v4(\/[^'<]*)'<\/code>/g)
  return [...lines].map(([, path = '']) => path.replaceAll('&amp;', '&'))
}

async function mayAsk({ caller }: Viewer, path: string): Promise<boolean> {
  return (await caller.get(path)).status < 400
}

/** Pages that read no endpoint: what they hold depends on the secret or the application in their address. */
const unsubscribeAddress = '/-/sent_notifications/:key/unsubscribe'
const consentAddress = '/oauth/authorize'
const secondFactorAddress = '/users/sign_in/second_factor'
const ownTests = new Set<string>([unsubscribeAddress, consentAddress, secondFactorAddress])
const judged = pages.filter(({ address }) => !ownTests.has(address))

describe.each(judged.map((page) => [page.address, page] as const))('%s', (_, page) => {
  test('answers everybody as the endpoints that it reads, and shows the owner and the administrator all', async () => {
    const address = given.exampleOf(page)
    const answers = new Map<Viewer, Shown>()
    for (const viewer of given.viewers) answers.set(viewer, await viewer.browser.get(address))
    const seenBy = (name: string) => answers.get(given.viewer(name))
    expect([seenBy('owner')?.status, seenBy('administrator')?.status]).toEqual([200, 200])
    const all = callsOf(seenBy('administrator')?.text ?? '')
    const found: unknown[] = []
    for (const [viewer, answer] of answers) {
      const wrong =
        answer.status === 200
          ? await shownWrongly(viewer, answer.text)
          : await refusedWrongly(viewer, answer, all)
      if (wrong) found.push([viewer.name, ...wrong])
    }
    expect(found).toEqual([])
  })
})

async function shownWrongly(viewer: Viewer, text: string) {
  const [first] = callsOf(text)
  const isAgreed = first === undefined || (await mayAsk(viewer, first))
  return isAgreed ? undefined : ['is shown what the API refuses', first]
}

interface Refusal {
  readonly status: number
  readonly location: string | null
}

async function refusedWrongly(viewer: Viewer, refusal: Refusal, all: readonly string[]) {
  const { status, location } = refusal
  if (!isRightFor(viewer, refusal)) return ['gets', status, location]
  const answers = await Promise.all(all.map((path) => mayAsk(viewer, path)))
  // With 403 the page is of a form, and what the form calls is not theirs to call.
  return answers.every((one) => one) && status === 404 ? ['is refused alone'] : undefined
}

function isRightFor({ name }: Viewer, { status, location }: Refusal): boolean {
  if (name === 'anonymous')
    return status === 302 && location?.startsWith('/users/sign_in?') === true
  return status === 404 || (name !== 'stranger' && status === 403)
}

const seenBy = (path: string) =>
  Promise.all(
    given.viewers.map(async ({ name, browser }) => [name, (await browser.get(path)).status]),
  )
const everybody = (status: number) => given.viewers.map(({ name }) => [name, status])

test('whoever has the link of a mail may end these mails, and nobody with another link', async () => {
  const path = given.exampleOf({ address: unsubscribeAddress })
  expect(await seenBy(path)).toEqual(everybody(200))
  expect(await seenBy(`${path.replace(/[^/]+\/unsubscribe$/, 'none')}/unsubscribe`)).toEqual(
    everybody(410),
  )
})

test('whoever is signed in is asked whether an application may use their account', async () => {
  const path = given.exampleOf({ address: consentAddress })
  const statuses = given.viewers.map(({ name }) => [name, name === 'anonymous' ? 302 : 200])
  expect(await seenBy(path)).toEqual(statuses)
  const asked = await given.viewer('stranger').browser.get(path)
  expect(asked.text).toContain('<strong>@stranger</strong>')
  const sentOn = await given.viewer('anonymous').browser.get(path)
  expect(sentOn.location).toContain('/users/sign_in?return_to=%2Foauth%2Fauthorize')
  // An application that nobody knows may not be led to by a page of ours.
  expect(await seenBy(path.replace(/client_id=[^&]+/, 'client_id=none'))).toEqual(everybody(400))
})

test('the second step of signing in is for nobody who has not done the first', async () => {
  expect(await seenBy(secondFactorAddress)).toEqual(everybody(302))
})

const forms = pageEndpoints.filter(({ method }) => method === 'POST').map(({ path }) => path)

test.each(forms.filter((path) => path !== unsubscribeAddress))(
  'the form of %s is refused without its token, and with that of somebody else',
  async (path) => {
    const foreign = await new Browser(given.world.url).get('/users/sign_in')
    const [, token = ''] = /name="authenticity_token" value="([^"]+)"/.exec(foreign.text) ?? []
    expect(token).not.toBe('')
    const [address = '', query] = given.exampleOf({ address: path }).split('?')
    const asked = Object.fromEntries(new URLSearchParams(query))
    for (const proof of [{}, { authenticity_token: token }]) {
      const sent = await given.viewer('owner').browser.post(address, { ...asked, ...proof })
      // Whoever is not on the way in has no page to see it on, and begins anew.
      if (path === secondFactorAddress) expect(sent.location).toBe('/users/sign_in')
      else {
        expect([address, sent.status]).toEqual([address, 422])
        expect(sent.text).toContain('This form was too old.')
      }
    }
  },
)

test('the form behind the link of a mail needs no token: the link is the proof', async () => {
  const path = given.exampleOf({ address: unsubscribeAddress })
  const browser = given.viewer('anonymous').browser
  expect(
    (await browser.post(`${path.replace(/[^/]+\/unsubscribe$/, 'none')}/unsubscribe`, {})).status,
  ).toBe(410)
  expect((await browser.post(path, {})).status).toBe(200)
})
