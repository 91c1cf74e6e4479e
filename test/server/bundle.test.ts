import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { packagesInside } from '../../scripts/setup/bundle.mjs'
import { root } from '../../scripts/setup.mjs'
import { createProject } from '../support/create.ts'
import { newFolder } from '../support/database.ts'
import { type ServerProcess, startServerProcess } from '../support/server-process.ts'
import { Caller } from '../support/world.ts'

const folder = newFolder()
let server: ServerProcess | undefined
afterAll(async () => {
  await server?.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('the bundle gives its modules the addresses of files that are there', () => {
  const text = readFileSync(join(root, 'dist/server.cjs'), 'utf8')
  const named = [...text.matchAll(/\(__dirname, ("[^"]+")\)\)\.href/g)].map(([, path]) =>
    JSON.parse(path ?? ''),
  )
  expect(named.length).toBeGreaterThan(5)
  expect(named.filter((path) => !existsSync(join(root, 'dist', path)))).toEqual([])
  expect(text).not.toContain('import.meta.url')
})

test('what lies beside the modules is found from the bundle: workers, engines, texts and pages', async () => {
  server = await startServerProcess(folder)
  const ana = new Caller(server.url, 'root-token-of-this-test', 1, 'root')
  const { id } = await createProject(ana, 'whole', { initialize_with_readme: true })
  const file = await ana.get(`/projects/${id}/repository/files/README.md/raw?ref=main`)
  expect(file.body).toContain('# whole')
  const rendered = await ana.post('/markdown', { text: '**bold**' })
  expect(rendered.body.html).toContain('<strong>bold</strong>')
  const content = 'build:\n  script: make\n'
  expect((await ana.post(`/projects/${id}/ci/lint`, { content })).body).toMatchObject({
    valid: true,
  })
  const license = await ana.get('/templates/licenses/mit')
  expect(license.body.content).toContain('MIT License')
  const page = await ana.get('/-/docs', { host: true })
  expect(page.body).toContain('swagger-ui')
  expect((await ana.get('/-/docs/swagger-ui.css', { host: true })).status).toBe(200)
})

test('every package of ES modules whose default export is taken lies in the bundle', () => {
  const load = createRequire(join(root, 'package.json'))
  const named = new Set<string>()
  for (const file of readdirSync(join(root, 'dist'), { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.js') || file.startsWith('web/assets')) continue
    const text = readFileSync(join(root, 'dist', file), 'utf8')
    const found = text.matchAll(/^import (?:\w+|\{ default as .*) from '([^.'][^']*)'/gm)
    for (const [, name = ''] of found) named.add(name)
  }
  const isModule = (name: string) => load(name)?.[Symbol.toStringTag] === 'Module'
  expect([...named].filter(isModule).sort()).toEqual([...packagesInside].sort())
})

test('packages of ES modules give the bundle their default export: emoji and the names of colors', async () => {
  const root = new Caller(server?.url ?? '', 'root-token-of-this-test', 1, 'root')
  const { id } = await createProject(root, 'named')
  const label = await root.post(`/projects/${id}/labels`, { name: 'urgent', color: 'red' })
  expect(label.body).toMatchObject({ color: '#FF0000' })
  await root.post(`/projects/${id}/issues`, { title: 'Plough' })
  const reaction = await root.post(`/projects/${id}/issues/1/award_emoji`, { name: 'tractor' })
  expect(reaction).toMatchObject({ status: 201, body: { name: 'tractor' } })
})
