import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import type { PushStep } from '../../src/transport/transport.ts'
import {
  type ClientFolders,
  commitFile,
  gitClient,
  makeProject,
  openClientFolders,
  runGitClient,
} from '../support/git-client.ts'
import { openWorld } from '../support/world.ts'
import { type CrashServer, crashServer } from './crash-server.ts'

let folders: ClientFolders
let folder: string
let token: string
let server: CrashServer
let repositories: { readonly wiki: string; readonly snippet: string }
let snippetId: number

// One data folder for all: each crash finds it as the last recovery left it.
beforeAll(async () => {
  folders = openClientFolders()
  const world = await openWorld()
  folder = world.folder
  const ana = await world.user('ana')
  token = ana.token ?? ''
  const project = await makeProject(world, ana, 'demo')
  await ana.post(`/projects/${project.id}/wikis`, { title: 'home', content: 'x' })
  snippetId = (await ana.post('/snippets', { title: 't', file_name: 'a', content: 'x' })).body.id
  repositories = {
    wiki: world.ctx.git.open({ kind: 'project_wiki', id: project.id }).path,
    snippet: world.ctx.git.open({ kind: 'snippet', id: snippetId }).path,
  }
  await world.app.close()
  server = crashServer(folder)
  await server.serve('')
}, 120_000)

afterAll(async () => {
  await server?.kill()
  await folders.clear()
  await rm(folder, { recursive: true, force: true })
})

/** The address, with the token in it, of a server that dies at a step. */
async function serve(step: PushStep | ''): Promise<string> {
  return `http://ana:${token}@127.0.0.1:${await server.serve(step)}`
}

async function stored() {
  const store = openStore(folder, { migrations })
  try {
    const open = await store.db
      .selectFrom('pushes')
      .select('id')
      .where('state', '=', 'open')
      .execute()
    const titles = await store.db
      .selectFrom('events')
      .select('target_title')
      .where('target_type', '=', 'WikiPage::Meta')
      .execute()
    const snippet = await store.db
      .selectFrom('snippets')
      .select('files')
      .where('id', '=', snippetId)
      .executeTakeFirstOrThrow()
    return {
      open: open.length,
      titles: titles.map((row) => row.target_title),
      files: JSON.parse(snippet.files) as string[],
    }
  } finally {
    await store.close()
  }
}

const steps = [
  ['objects received', false],
  ['intent recorded', false],
  ['allowed', false],
  ['refs moved', true],
  ['finalized', true],
] as const

test.each(steps)(
  'a server that is killed in a push to a wiki at "%s" knows afterwards what became of it',
  async (step, arrives) => {
    const name = `at ${step}`
    const clone = await folders.folder()
    await gitClient(clone, ['clone', '-q', repositories.wiki, '.'])
    const tip = await commitFile(clone, `${name}.md`, step, name)
    const run = await runGitClient(clone, [
      'push',
      `${await serve(step)}/ana/demo.wiki.git`,
      'HEAD',
    ])
    expect(run.code).not.toBe(0)
    await server.death()
    const address = await serve('')
    const told = async () => (await stored()).titles.filter((title) => title === name).length
    expect((await stored()).open).toBe(0)
    expect(await told()).toBe(arrives ? 1 : 0)
    await gitClient(clone, ['push', '-q', `${address}/ana/demo.wiki.git`, 'HEAD'])
    expect(await told()).toBe(1)
    expect(await gitClient(repositories.wiki, ['rev-parse', 'HEAD'])).toBe(tip)
  },
)

test.each(steps)(
  'a server that is killed in a push to a snippet at "%s" shows afterwards what it holds',
  async (step, arrives) => {
    const clone = await folders.folder()
    await gitClient(clone, ['clone', '-q', repositories.snippet, '.'])
    await commitFile(clone, step, step, step)
    const path = `snippets/${snippetId}.git`
    const run = await runGitClient(clone, ['push', `${await serve(step)}/${path}`, 'HEAD'])
    expect(run.code).not.toBe(0)
    await server.death()
    const address = await serve('')
    const { open, files } = await stored()
    expect(open).toBe(0)
    expect(files.includes(step)).toBe(arrives)
    await gitClient(clone, ['push', '-q', `${address}/${path}`, 'HEAD'])
    expect((await stored()).files).toContain(step)
    expect(await gitClient(repositories.snippet, ['fsck', '--strict'])).toBe('')
  },
)
