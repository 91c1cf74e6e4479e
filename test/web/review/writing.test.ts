import { readFileSync } from 'node:fs'
import type { Browser as Chromium, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { openChromium } from '../../support/chromium.ts'
import { git } from '../../support/git.ts'
import { addMember } from '../../support/members.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { PASSWORD, signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>'
const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench
let hers: Browser
let guests: Browser
let strangers: Browser
let chromium: Chromium
let page: Page
const faults: string[] = []

beforeAll(async () => {
  const [ben, eve] = [await world.user('ben'), await world.user('eve')]
  bench = await openBench(world, ana)
  await addMember(world, bench.project.id, ben.id, 20)
  hers = await signedInBrowser(world, ana)
  guests = await signedInBrowser(world, ben)
  strangers = await signedInBrowser(world, eve)
  chromium = await openChromium()
  page = await chromium.newPage()
  page.on('pageerror', (error) => faults.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error') faults.push(message.text())
  })
  await page.goto(`${world.url}/users/sign_in`)
  await page.fill('[name="user[login]"]', 'ana')
  await page.fill('[name="user[password]"]', PASSWORD)
  await page.click('main button[type=submit]')
  await page.waitForURL(`${world.url}/`)
}, 120_000)
afterAll(() => chromium?.close())

async function opened(branch: string, commits = 1): Promise<string> {
  for (let index = 1; index <= commits; index += 1) bench.commit(branch, { [branch]: `${index}\n` })
  const { body } = await bench.open(branch)
  await bench.read(body.iid)
  return `/${bench.project.fullPath}/-/merge_requests/${body.iid}`
}

describe('a text is looked at before it is kept', () => {
  test('in every form of Markdown, as it will stand there', async () => {
    const address = await opened('preview')
    await page.goto(world.url + address)
    const form = page.locator('form', { has: page.locator('#comment') })
    await form.locator('#comment').fill(`**bold** and #1 ${hostile}`)
    await form.getByRole('button', { name: 'Preview' }).focus()
    await page.keyboard.press('Enter')
    await form.locator('.preview strong', { hasText: 'bold' }).waitFor()
    expect(await form.locator('#comment').isVisible()).toBe(false)
    expect(await form.locator('.preview img, .preview script').count()).toBe(0)
    await form.getByRole('button', { name: 'Write' }).click()
    expect(await form.locator('#comment').inputValue()).toContain('**bold**')
    // An empty field that has to be filled in is shown again when it is missed.
    await form.locator('#comment').fill('')
    await form.getByRole('button', { name: 'Preview' }).click()
    await form.getByText('There is nothing to show yet.').waitFor()
    await form.getByRole('button', { name: 'Comment' }).click()
    await form.locator('#comment').waitFor()
    await page.goto(`${world.url}${address}/diffs`)
    await page.locator('a[data-line="1"]').last().click()
    const line = page.locator('.line-form')
    await line.locator('[name=body]').fill('`code`')
    await line.getByRole('button', { name: 'Preview' }).click()
    await line.locator('.preview code', { hasText: 'code' }).waitFor()
    expect(faults).toEqual([])
  }, 60_000)

  test('by whoever sees the project, with the token of a form', async () => {
    const at = `/${bench.project.fullPath}/-/preview_markdown`
    const { text } = await guests.get('/')
    const [, token = ''] = /name="authenticity_token" value="([^"]+)"/.exec(text) ?? []
    const sent = { authenticity_token: token, text: '*soft*' }
    const shown = await guests.post(at, sent)
    expect([shown.status, shown.text.includes('<em>soft</em>')]).toEqual([200, true])
    expect((await guests.post(at, { text: '*soft*' })).status).toBe(422)
    const other = await strangers.get('/')
    const [, theirs = ''] = /name="authenticity_token" value="([^"]+)"/.exec(other.text) ?? []
    expect((await strangers.post(at, { ...sent, authenticity_token: theirs })).status).toBe(404)
  })

  test('without script the field alone is there', async () => {
    const { text } = await hers.get(await opened('plain'))
    expect(text).toMatch(/data-script[^>]*hidden/)
    expect(text).toContain('id="comment"')
  })
})

describe('the messages of a merge', () => {
  const message = (ref: string) => git(bench.project.path, ['log', '-1', '--format=%B', ref])

  test('stand in the form as they would be, and are kept where nobody changes them', async () => {
    const address = await opened('kept')
    const { text } = await hers.get(address)
    expect(text).toContain(
      'Merge branch &#39;kept&#39; into &#39;main&#39;'.replaceAll('&#39;', "'"),
    )
    const [, form = ''] =
      new RegExp(`action="${address}/merge"([\\s\\S]*?)</form>`).exec(text) ?? []
    const preset =
      /<textarea[^>]*name="merge_commit_message"[^>]*>\n?([^<]*)</.exec(form)?.[1] ?? ''
    const squash = /<textarea[^>]*name="squash_commit_message"[^>]*>\n?([^<]*)</.exec(form)?.[1]
    expect(squash).toBe('Take kept')
    const merged = await submitForm(hers, address, `${address}/merge`, {
      // As browsers send it.
      merge_commit_message: preset.replaceAll('\n', '\r\n'),
      squash_commit_message: squash ?? '',
      squash: 'true',
    })
    expect(merged.status).toBe(303)
    // A single commit is not squashed for a message that nobody wrote.
    const parents = git(bench.project.path, ['log', '-1', '--format=%P', 'main']).split(' ')
    expect(parents.at(1)).toBe(git(bench.project.path, ['rev-parse', 'kept']))
    expect(message('main')).toBe(preset.trim())
  })

  test('are what was written', async () => {
    const address = await opened('written', 2)
    await page.goto(world.url + address)
    await page.getByText('Change the commit messages').click()
    await page.getByLabel('Message of the merge commit').fill(`Mine ${hostile}`)
    await page.getByLabel('Message of the squashed commit').fill('As one\n\nWith a body')
    await page.getByLabel('Squash the commits').check()
    await page.getByRole('button', { name: 'Merge', exact: true }).click()
    await page.getByText('The merge request was merged.').waitFor()
    expect(message('main')).toBe(`Mine ${hostile}`)
    expect(message('main^2')).toBe('As one\n\nWith a body')
    expect(faults).toEqual([])
  }, 60_000)

  test('are those that the way of merging makes, and nobody’s who may not read the request', async () => {
    const iid = Number((await opened('asked')).split('/').at(-1))
    const at = `${bench.api}/${iid}/merge_messages`
    const template = { squash_commit_template: '%{title}\n\n%{all_commits}' }
    await ana.put(`/projects/${bench.project.id}`, template)
    expect((await ana.get(at)).body).toMatchObject({
      merge_commit_message: expect.stringContaining("Merge branch 'asked' into 'main'"),
      squash_commit_message: 'Take asked\n\n* Change asked',
    })
    await ana.put(`/projects/${bench.project.id}`, { merge_method: 'ff', squash_option: 'never' })
    expect((await ana.get(at)).body).toEqual({
      merge_commit_message: null,
      squash_commit_message: null,
    })
    expect((await (await world.user('fay')).get(at)).status).toBe(404)
    expect((await world.nobody.get(at)).status).toBe(401)
  })
})

describe('a changed picture', () => {
  const picture = (name: string) =>
    readFileSync(new URL(`../../../docs/pictures/${name}`, import.meta.url))

  test('is compared side by side, by a slider, and shining through', async () => {
    bench.commit('main', { 'logo.png': picture('changes.png') })
    bench.commit('drawn', { 'logo.png': picture('merge-request.png') })
    const { body } = await bench.open('drawn')
    await page.goto(`${world.url}/${bench.project.fullPath}/-/merge_requests/${body.iid}/diffs`)
    const part = page.locator('.compared')
    await part.locator('.after img').scrollIntoViewIfNeeded()
    const left = async (side: string) => (await part.locator(`.${side} img`).boundingBox())?.x ?? 0
    expect(await left('after')).toBeGreaterThan(await left('before'))
    const slider = part.getByLabel('How much of the new picture is seen')
    expect(await slider.isVisible()).toBe(false)
    await part.getByRole('button', { name: 'Swipe' }).click()
    expect(await left('after')).toBe(await left('before'))
    await slider.focus()
    await page.keyboard.press('Home')
    const style = (name: string) =>
      part
        .locator('.after img')
        .evaluate((image, name) => getComputedStyle(image)[name as 'opacity'], name)
    expect(await style('clipPath')).toBe('inset(0px 100% 0px 0px)')
    await part.getByRole('button', { name: 'Onion skin' }).click()
    expect(await style('opacity')).toBe('0')
    await page.keyboard.press('Tab')
    await slider.focus()
    await page.keyboard.press('End')
    expect(await style('opacity')).toBe('1')
    const sha = bench.project.git('rev-parse', 'drawn')
    const { text } = await hers.get(`/${bench.project.fullPath}/-/commit/${sha}`)
    expect(text).toMatch(/class="before"[\s\S]*?\/raw\/[0-9a-f]+\/logo\.png[\s\S]*?class="after"/)
    expect(faults).toEqual([])
  }, 60_000)
})
