import { beforeAll, expect, test } from 'vitest'
import type { Browser } from '../../support/browser.ts'
import { git } from '../../support/git.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { signedInBrowser, submitForm } from '../../support/submit-form.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const eve = useCaller(world, 'eve')
let hers: Browser
let open: TestProject

beforeAll(async () => {
  open = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
  hers = await signedInBrowser(world, eve)
})

async function forks(): Promise<{ id: number; path_with_namespace: string }[]> {
  return (await eve.get(`/projects/${open.id}/forks`)).body
}

/** Sends a form with a file, as browsers do. */
async function upload(at: string, name: string, bytes: Buffer) {
  const { text } = await hers.get(at)
  const hidden = (field: string) => new RegExp(`name="${field}" value="([^"]*)"`).exec(text)?.[1]
  const sent = new FormData()
  sent.set('authenticity_token', hidden('authenticity_token') ?? '')
  sent.set('return_to', at)
  sent.set('branch', hidden('branch') ?? 'with-a-file')
  sent.set('merge_request', '1')
  sent.set('file', new Blob([new Uint8Array(bytes)]), name)
  const cookie = [...hers.cookies].map(([key, value]) => `${key}=${value}`).join('; ')
  return await fetch(world.url + at, {
    method: 'POST',
    body: sent,
    headers: { Cookie: cookie },
    redirect: 'manual',
  })
}

test('who may not push uploads a file to a branch of their own fork, and asks for it to be merged', async () => {
  expect((await hers.get('/ana/open/-/tree/main')).text).toContain('/ana/open/-/upload/main')
  const page = await hers.get('/ana/open/-/upload/main')
  expect([page.status, page.text.includes('your fork')]).toEqual([200, true])
  expect(await forks()).toEqual([])
  const bytes = Buffer.from([0, 1, 2, 255])
  const sent = await upload('/ana/open/-/upload/main', 'bytes.dat', bytes)
  expect(sent.status).toBe(303)
  const [fork] = await forks()
  expect(fork?.path_with_namespace).toBe('eve/open')
  const next = new URL(sent.headers.get('location') ?? '', world.url)
  expect(next.pathname).toBe('/eve/open/-/merge_requests/new')
  expect(next.searchParams.get('merge_request[target_project_id]')).toBe(String(open.id))
  const branch = next.searchParams.get('merge_request[source_branch]') ?? ''
  const stored = world.ctx.git.open(fork?.id ?? 0).path
  expect(git(stored, ['cat-file', '-s', `${branch}:bytes.dat`])).toBe('4')
  expect(open.git('for-each-ref', `refs/heads/${branch}`)).toBe('')
  await world.runTasks()
  const request = await submitForm(hers, next.pathname + next.search, next.pathname, {
    source_branch: branch,
    target_branch: 'main',
    title: 'Bytes',
  })
  expect(request.location).toMatch(/^\/ana\/open\/-\/merge_requests\/\d+$/)
})

test('the next change goes to the same fork, from what the project has now', async () => {
  const actions = [{ action: 'create', file_path: 'later.txt', content: 'later\n' }]
  const body = { branch: 'main', commit_message: 'Later', actions }
  expect((await ana.post(`${open.api}/commits`, body)).status).toBe(201)
  const at = '/ana/open/-/edit/main/later.txt'
  const done = await submitForm(hers, at, at, { content: 'mine\n', branch: 'mine' })
  expect(done.location).toBe('/eve/open/-/blob/mine/later.txt')
  expect(await forks()).toHaveLength(1)
})

test('who may not fork it changes nothing', async () => {
  await ana.put(`/projects/${open.id}`, { forking_access_level: 'disabled' })
  expect((await hers.get('/ana/open/-/edit/main/later.txt')).status).toBe(403)
  expect((await hers.get('/ana/open/-/blob/main/later.txt')).text).not.toContain('/-/edit/')
})
