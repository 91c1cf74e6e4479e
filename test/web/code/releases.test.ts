import { beforeAll, expect, test } from 'vitest'
import { barsOf } from '../../../src/web/code/contributors.tsx'
import { Browser } from '../../support/browser.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { givePassword, PASSWORD } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let open: TestProject
let browser: Browser

beforeAll(async () => {
  open = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
  await givePassword(world, ana.id)
  browser = new Browser(world.url)
  await browser.signIn('ana', PASSWORD)
})

test('a release is made, changed, gets assets and evidence, and goes; its tag stays', async () => {
  const at = '/ana/open/-/releases'
  const made = await browser.submit(await browser.get(`${at}/new`), `${at}/new`, {
    tag_name: 'v9/one',
    ref: 'main',
    name: 'Nine <script>alert(1)</script>',
    milestones: '',
    released_at: '2026-01-02',
    description: '**bold** <img src=x onerror=alert(1)>',
  })
  expect([made.status, made.location]).toEqual([303, `${at}/v9%2Fone`])
  const page = await new Browser(world.url).get(`${at}/v9%2Fone`)
  expect([page.status, page.text.includes('<strong>bold</strong>')]).toEqual([200, true])
  expect(page.text).not.toMatch(/<script>alert|<img src=x|\/edit"/)
  const edit = `${at}/v9%2Fone/edit`
  const fields = { name: 'Ten', milestones: '', description: 'new', released_at: '' }
  expect((await browser.submit(await browser.get(edit), edit, fields)).status).toBe(303)
  const links = `${at}/v9%2Fone/links`
  const link = { link_name: 'Tool', url: 'https://files.example/tool.zip', link_type: 'package' }
  expect((await browser.submit(await browser.get(edit), links, link)).location).toBe(edit)
  const own = await browser.get(`${at}/v9%2Fone`)
  expect(own.text).toContain('href="https://files.example/tool.zip"')
  const evidence = await browser.submit(own, `${at}/v9%2Fone/evidence`, {})
  expect(evidence.status).toBe(303)
  expect((await browser.get(`${at}/v9%2Fone`)).text).toMatch(/[0-9a-f]{64}/)
  const list = await browser.get(at)
  expect(list.text).toContain('Ten')
  expect((await browser.get('/ana/open/-/tags')).text).toContain('Release notes')
  const gone = await browser.submit(own, `${at}/v9%2Fone/delete`, {})
  expect([gone.status, gone.location]).toEqual([303, at])
  expect(open.git('tag', '-l', 'v9/one')).toBe('v9/one')
})

test('branches show how far they are apart, and merged ones are deleted at once', async () => {
  await ana.post(`${open.api}/branches`, { branch: 'done', ref: 'main' })
  const page = await browser.get('/ana/open/-/branches')
  expect(page.text).toContain('0 behind, 0 ahead of the default branch')
  const branch = (name: string) => `/ana/open/-/tree/${name}"`
  const merged = async () => (await browser.get('/ana/open/-/branches?show=merged')).text
  // One at the very commit of the default branch has brought nothing in.
  expect(await merged()).not.toContain(branch('done'))
  const actions = [{ action: 'create', file_path: 'more.txt', content: 'more' }]
  await ana.post(`${open.api}/commits`, { branch: 'main', commit_message: 'More', actions })
  expect(await merged()).toContain(branch('done'))
  expect(await merged()).not.toContain(branch('feature/one'))
  const sent = await browser.submit(page, '/ana/open/-/branches/delete_merged', {})
  expect(sent.status).toBe(303)
  const stranger = await new Browser(world.url).get('/ana/open/-/branches')
  expect(stranger.text).not.toContain('delete_merged')
})

test('a commit is commented on as a whole and on a line', async () => {
  const actions = [{ action: 'create', file_path: 'line.txt', content: 'one\ntwo\n' }]
  const body = { branch: 'main', commit_message: 'Add lines', actions }
  const { id } = (await ana.post(`${open.api}/commits`, body)).body
  const at = `/ana/open/-/commit/${id}`
  const page = await browser.get(at)
  const whole = await browser.submit(page, `${at}/comments`, { note: 'Well <script>x</script>' })
  expect(whole.status).toBe(303)
  const line = { note: 'Why two?', path: 'line.txt', line: '2', line_type: 'new' }
  expect((await browser.submit(page, `${at}/comments`, line)).status).toBe(303)
  const { text } = await new Browser(world.url).get(at)
  expect(text.indexOf('Why two?')).toBeGreaterThan(text.indexOf('class="below"'))
  expect(text).not.toContain('<script>x')
  expect(text).not.toContain(`action="${at}/comments"`)
})

test('contributors are counted, with a picture of their commits', async () => {
  const reader = new Browser(world.url)
  const page = await reader.get('/ana/open/-/graphs/main')
  // The page comes at once; what is counted has an address of its own, and one without script.
  expect(page.text).toContain('data-load="/ana/open/-/graph_counts/main?page=1"')
  expect(page.text).not.toContain('role="img"')
  for (const at of ['graph_counts/main', 'graphs/main?counts=1']) {
    const { text } = await reader.get(`/ana/open/-/${at}`)
    expect(text).toMatch(/<svg viewBox[^>]*role="img"/)
  }
  expect((await browser.get('/ana/open/-/graphs/none')).status).toBe(404)
  const weeks = [
    { week: '2026-01-05', commits: 2 },
    { week: '2026-01-19', commits: 3 },
  ]
  expect(barsOf(weeks)).toEqual({ bars: [2, 0, 3], weeksEach: 1 })
})

test('commits are found by words of their messages', async () => {
  const found = await new Browser(world.url).get('/ana/open/-/commits/main?search=ADD+lines')
  const none = await new Browser(world.url).get('/ana/open/-/commits/main?search=nothing+like+it')
  expect([found.text.includes('Add lines'), none.text.includes('No commits found')]).toEqual([
    true,
    true,
  ])
})
