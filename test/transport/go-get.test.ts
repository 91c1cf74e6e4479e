import { beforeAll, expect, test } from 'vitest'
import { createProject } from '../support/create.ts'
import { useCaller, useWorld } from '../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
beforeAll(async () => {
  const make = async (path: string, parent_id?: number) =>
    (await ana.post('/groups', { name: path, path, parent_id, visibility: 'public' })).body.id
  const low = await make('low', await make('top'))
  await createProject(ana, 'open', { namespace_id: low, visibility: 'public' })
  await createProject(ana, 'hidden', { namespace_id: low, visibility: 'private' })
})

async function ask(path: string, authorization?: string) {
  const headers: Record<string, string> = authorization ? { authorization } : {}
  const reply = await fetch(`${world.url}${path}?go-get=1`, { headers, redirect: 'manual' })
  return { status: reply.status, text: await reply.text() }
}

const basic = (password: string) => `Basic ${Buffer.from(`ana:${password}`).toString('base64')}`

function imports(path: string) {
  const { externalUrl } = world.ctx.config
  const host = externalUrl.replace('http://', '')
  return `<meta name="go-import" content="${host}/${path} git ${externalUrl}/${path}.git">`
}

test('go finds the repository of a module, and of a package inside of one', async () => {
  for (const path of ['/top/low/open', '/top/low/open/', '/top/low/open/pkg/deep']) {
    const { status, text } = await ask(path)
    expect(status).toBe(200)
    expect(text).toContain(imports('top/low/open'))
    expect(text).toContain('<body>go get ')
  }
  expect((await ask('/top/low/open.git')).text).toContain(imports('top/low/open'))
})

test('nobody learns whether a hidden project is there; whoever may see it finds it', async () => {
  for (const path of ['/top/low/hidden', '/top/low/none', '/top/low/none/pkg']) {
    expect(await ask(path)).toEqual(await ask('/top/low/other'))
    expect((await ask(path)).text).toContain(imports('top/low'))
  }
  const token = await world.token(ana.id, ['read_repository'])
  expect((await ask('/top/low/hidden/pkg', basic(token))).text).toContain(imports('top/low/hidden'))
  expect((await ask('/top/low/hidden/pkg', basic('wrong'))).text).toContain(imports('top/low'))
})

test('other paths, methods and signs are not for go', async () => {
  expect((await ask('/top')).text).not.toContain('go-import')
  expect((await ask('/api/v4/projects')).status).toBe(200)
  expect((await ask('/top/%22%3E%3Cscript%3E')).text).not.toContain('<script>')
  const posted = await fetch(`${world.url}/top/low/open?go-get=1`, { method: 'POST' })
  expect(posted.status).toBe(404)
})
