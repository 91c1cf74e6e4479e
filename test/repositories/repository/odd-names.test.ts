import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { commitFiles } from '../../support/fast-import.ts'
import { gitBytes } from '../../support/git.ts'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

/** Lawful names that have broken tools: every way to reach a file must take them literally. */
const names = [
  'a b.txt',
  ' leading',
  'trailing ',
  '100%.txt',
  '%2F',
  '%',
  '#hash?query=1&x',
  '?',
  'plus+and+more',
  '-rf',
  '--output=x',
  ':(glob)*',
  ':wq',
  '*',
  '[ab]',
  'back\\slash',
  'quo"te',
  "it's",
  'new\nline',
  'tab\there',
  'e\u0301 decomposed',
  '\u00e9 composed',
  '日本語',
  '💾',
  'name.json',
  'name.atom',
  'raw',
  'blame',
  'HEAD',
  '...',
  'semi;colon',
  'a@{0}',
  '~tilde^caret',
  '__proto__',
]

const world = useWorld({ limitArchives: 0 })
const ana = useCaller(world, 'ana')
let project: TestProject
let commitId: string

beforeAll(async () => {
  project = await addProject(world, ana, 'empty', { path: 'odd' })
  const files = Object.fromEntries(
    names.flatMap((name, i) => [
      [name, `top ${i}\n`],
      [` dir ${i % 2}/${name}`, `below ${i}\n`],
    ]),
  )
  commitId = commitFiles(project, { files: Object.assign(Object.create(null), files) })
  await world.ctx.db
    .updateTable('projects')
    .set({ empty_repo: 0 })
    .where('id', '=', project.id)
    .execute()
})

/** Those that a commit of the API may make: docs/faults 41 has it refuse line breaks and backslashes. */
const writable = names.filter((name) => !/[\n\t\\]/.test(name))

test('are written as they are', async () => {
  const actions = writable.map((name) => ({ action: 'create', file_path: name, content: name }))
  const body = { branch: 'new', start_branch: 'main', commit_message: 'New', actions }
  const below = actions.map((one) => ({ ...one, file_path: ` new/${one.file_path}` }))
  const made = await ana.post(`${project.api}/commits`, { ...body, actions: below })
  expect([made.status, made.body.message]).toEqual([201, 'New'])
  const listed = gitBytes(project.path, ['ls-tree', '-r', '-z', '--name-only', 'new: new'])
  expect(listed.toString().split('\0').filter(Boolean).sort()).toEqual(writable.toSorted())
  expect(project.git('fsck', '--strict', '--no-dangling')).toBe('')
})

test.each(names)('%j is read by each way there is', async (name) => {
  const i = names.indexOf(name)
  for (const [path, content] of [
    [name, `top ${i}\n`],
    [` dir ${i % 2}/${name}`, `below ${i}\n`],
  ] as const) {
    const at = `${project.api}/files/${encodeURIComponent(path)}`
    const file = await ana.get(`${at}?ref=main`)
    expect(file.body).toMatchObject({ file_path: path, last_commit_id: commitId })
    expect(Buffer.from(file.body.content, 'base64').toString()).toBe(content)
    expect((await ana.head(`${at}?ref=main`)).headers.get('x-svc-blob-id')).toBe(file.body.blob_id)
    expect((await ana.get(`${at}/raw?ref=main`)).body).toBe(content)
    const [part] = (await ana.get(`${at}/blame?ref=main`)).body
    expect([part.commit.id, part.lines]).toEqual([commitId, [content.trimEnd()]])
    const log = await ana.get(`${project.api}/commits?path=${encodeURIComponent(path)}`)
    expect(log.body.map(({ id }: { id: string }) => id)).toEqual([commitId])
  }
})

test('are listed, compared, archived, changed and removed', async () => {
  const folder = await ana.get(
    `${project.api}/tree?path=${encodeURIComponent(' dir 0')}&per_page=100`,
  )
  const even = names.filter((_, i) => i % 2 === 0)
  expect(folder.body.map(({ name }: { name: string }) => name).sort()).toEqual(even.sort())

  const url = `${world.url}/api/v4${project.api}/archive.tar?path=${encodeURIComponent(' dir 1')}`
  const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': ana.token ?? '' } })
  const tar = Buffer.from(await answer.arrayBuffer())
  const held = execFileSync('tar', ['-t', '--quoting-style=literal', '--null', '-f', '-'], {
    input: tar,
  })
  expect(held.toString()).toContain(' dir 1/')

  const moves = writable.map((name) => ({
    action: 'move',
    previous_path: name,
    file_path: `${name}.2`,
  }))
  const body = { branch: 'main', commit_message: 'Move', actions: moves }
  expect((await ana.post(`${project.api}/commits`, body)).status).toBe(201)
  const compared = await ana.get(`${project.api}/compare?from=${commitId}&to=main`)
  expect(compared.body.diffs.map((file: { new_path: string }) => file.new_path).sort()).toEqual(
    writable.map((name) => `${name}.2`).sort(),
  )
  for (const name of writable) {
    const at = `${project.api}/files/${encodeURIComponent(`${name}.2`)}`
    const change = { branch: 'main', content: 'changed', commit_message: 'Change' }
    expect((await ana.put(at, change)).body).toEqual({ file_path: `${name}.2`, branch: 'main' })
    expect((await ana.delete(at, { branch: 'main', commit_message: 'Remove' })).status).toBe(204)
  }
  const left = gitBytes(project.path, ['ls-tree', '-z', '--name-only', 'main']).toString()
  const kept = [' dir 0', ' dir 1', ...names.filter((name) => !writable.includes(name))]
  expect(left.split('\0').filter(Boolean).sort()).toEqual(kept.sort())
})
