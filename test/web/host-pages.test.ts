import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../support/project.ts'
import { type Bench, openBench } from '../support/review.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
const eve = useCaller(world, 'eve')
let open: TestProject
let bench: Bench

beforeAll(async () => {
  open = await addProject(world, ana, 'basic', { path: 'open', visibility: 'public' })
  await addProject(world, ana, 'basic', { path: 'closed' })
  bench = await openBench(world, ana)
})

const html = { host: true, headers: { Accept: 'text/html,*/*;q=0.8' } } as const
const page = (path: string, who = world.nobody) => who.get(path, { host: true })

describe('files at the address that people share', () => {
  test('are those of the branch, tag or commit that it begins with', async () => {
    const tree = open.git('ls-tree', '-r', '--name-only', 'feature/one').split('\n')
    const path = tree.find((one) => one.includes('/')) ?? ''
    const content = open.git('show', `feature/one:${path}`)
    for (const ref of ['feature/one', 'feature%2Fone', open.git('rev-parse', 'feature/one')]) {
      const reply = await page(`/ana/open/-/raw/${ref}/${path}`)
      expect([reply.status, String(reply.body).trimEnd()]).toEqual([200, content])
    }
    const reply = await page(`/ana/open/-/raw/feature/one/${path}?inline=false`)
    expect(reply.headers.get('content-disposition')).toContain('attachment')
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
    expect(reply.headers.get('content-security-policy')).toContain('sandbox')
    expect(reply.headers.get('content-type')).toContain('text/plain')
  })

  test('are seen by whoever may read the code, and by nobody else', async () => {
    const path = '/ana/closed/-/raw/main/README.md'
    expect((await page(path, ana)).status).toBe(200)
    expect((await page(path, eve)).status).toBe(404)
    expect((await page(path)).status).toBe(404)
    await ana.put(`/projects/${open.id}`, { repository_access_level: 'private' })
    expect((await page('/ana/open/-/raw/main/README.md')).status).toBe(403)
    expect((await page('/ana/open/-/archive/main/open-main.zip')).status).toBe(403)
    await ana.put(`/projects/${open.id}`, { repository_access_level: 'enabled' })
  })

  test.each([
    '/ana/open/-/raw/main/none.txt',
    '/ana/open/-/raw/none/README.md',
    '/ana/open/-/raw/main',
    '/ana/open/-/raw/..%2f..%2fetc/passwd',
    '/ana/none/-/raw/main/README.md',
    '/ana/open/-/archive/none.zip',
    '/ana/open/-/archive/main.exe',
    '/ana/open/-/commit/0000000000000000000000000000000000000000.diff',
    '/ana/open/-/merge_requests/99.diff',
  ])('%s is not there', async (path) => {
    expect((await page(path)).status).toBe(404)
  })
})

describe('archives at the address that people share', () => {
  test.each(['main.tar.gz', 'main/open-main.tar.gz', 'feature/one/any.tar.gz'])(
    '%s unpacks',
    async (name) => {
      const response = await fetch(`${world.url}/ana/open/-/archive/${name}`)
      expect(response.status).toBe(200)
      const file = join(world.folder, 'a.tar.gz')
      writeFileSync(file, Buffer.from(await response.arrayBuffer()))
      const names = execFileSync('tar', ['-tzf', file], { encoding: 'utf8' })
      expect(names).toMatch(/^open-(main|feature-one)-[0-9a-f]{40}\/$/m)
      expect(names).toContain('README.md')
    },
  )
})

describe('changes at the address that people share', () => {
  test('are those of a merge request, byte for byte as git writes them', async () => {
    bench.commit('topic', { 'a.txt': 'a\n' })
    bench.commit('topic', { 'b.bin': Buffer.from([0, 1, 2]) })
    await ana.post(bench.api, { source_branch: 'topic', target_branch: 'main', title: 'Take' })
    const at = `/${bench.project.fullPath}/-/merge_requests/1`
    const diff = await page(`${at}.diff`, ana)
    const flags = ['--binary', '--full-index', '-M']
    expect(String(diff.body).trimEnd()).toBe(
      bench.project.git('diff', ...flags, 'main...topic').trimEnd(),
    )
    const patch = await page(`${at}.patch`, ana)
    expect(patch.body).toMatch(/^From [0-9a-f]{40} [\s\S]*\nFrom [0-9a-f]{40} /)
    expect(patch.headers.get('content-type')).toContain('text/plain')
    expect((await page(`${at}.diff`, eve)).status).toBe(404)
    expect((await page(`${at}.diff`)).status).toBe(404)
  })

  test('are those of a commit', async () => {
    const sha = bench.project.git('rev-parse', 'topic~1')
    const at = `/${bench.project.fullPath}/-/commit/${sha.slice(0, 12)}`
    expect((await page(`${at}.diff`, ana)).body).toContain('+++ b/a.txt')
    expect((await page(`${at}.patch`, ana)).body).toContain(`From ${sha}`)
    expect((await page(`${at}.patch`, eve)).status).toBe(404)
  })
})

describe('what is not there', () => {
  test.each(['/nowhere', '/ana/none/-/tree/main'])(
    '%s asks strangers with a browser to sign in, and is a message for programs',
    async (path) => {
      const shown = await world.nobody.get(path, html)
      expect([shown.status, shown.headers.get('location')]).toEqual([
        302,
        `/users/sign_in?${new URLSearchParams({ return_to: path })}`,
      ])
      const answer = await page(path)
      expect([answer.status, answer.body.message.slice(0, 3)]).toEqual([404, '404'])
    },
  )

  test.each(['/ana/closed/-/raw/main/README.md'])(
    '%s is a page for browsers and a message for programs',
    async (path) => {
      const shown = await world.nobody.get(path, html)
      expect(shown.status).toBe(404)
      expect(shown.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(shown.body).toContain('There is nothing at this address')
      expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
      const answer = await page(path)
      expect(answer.status).toBe(404)
      expect(answer.body.message).toContain('404')
    },
  )

  test('is never a page in the API', async () => {
    const { headers } = html
    const reply = await world.nobody.get('/projects/999', { headers })
    expect([reply.status, reply.body]).toEqual([404, { message: '404 Project Not Found' }])
    expect((await world.nobody.get('/nowhere', { headers })).body.error).toBe('404 Not Found')
  })
})
