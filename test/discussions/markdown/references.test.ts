import { beforeAll, describe, expect, test } from 'vitest'
import { createGroup, createProject } from '../../support/create.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench
let path: string
let host: string
let url: string

beforeAll(async () => {
  bench = await openBench(world, ana)
  path = `/projects/${bench.project.id}`
  host = world.ctx.config.externalUrl
  url = `${host}/${bench.project.fullPath}/-`
  await ana.post(`${path}/labels`, { name: 'bug', color: 'red' })
  await ana.post(`${path}/issues`, { title: 'one' })
})

async function html(text: string, project = bench.project.fullPath): Promise<string> {
  const { status, body } = await ana.post('/markdown', { text, gfm: true, project })
  expect(status).toBe(201)
  return body.html
}

/** What is shown as a link to something of this server. */
async function linked(text: string, project?: string): Promise<string[]> {
  const found = (await html(text, project)).matchAll(/class="gfm">([^<]*)<\/a>/g)
  return [...found].map(([, shown = '']) => shown)
}

describe('a mention', () => {
  test('is the whole name: what only begins like a known one is text', async () => {
    await world.user('ana-b')
    expect(await linked('@ana and @ana-c')).toEqual(['@ana'])
    expect(await linked('@ana, @ana-b')).toEqual(['@ana', '@ana-b'])
    expect(await linked('@ana @ana.x @ana/x @anax')).toEqual(['@ana'])
    expect(await linked('~bug and ~bug-fix, ~bugs')).toEqual(['bug'])
    expect(await linked('#1 and #12, #1a')).toEqual(['#1'])
  })

  test('ends before the punctuation of a sentence', async () => {
    expect(await linked('Ask @ana. Or @ana, or (@ana)!')).toEqual(['@ana', '@ana', '@ana'])
    expect(await linked('Is it ~bug? It is ~bug: see #1. And (#1)')).toEqual([
      'bug',
      'bug',
      '#1',
      '#1',
    ])
  })

  test('is none inside of words, code, addresses and other links', async () => {
    expect(await linked('mail@ana a#1 x~bug')).toEqual([])
    expect(await linked('`#1` and\n\n```\n@ana ~bug\n```')).toEqual([])
    expect(await linked('[see #1 and @ana](https://example.com)')).toEqual([])
    expect(await linked('https://example.com/#1 https://example.com/@ana')).toEqual([])
  })

  test('may stand in headings, tables, lists and emphasis', async () => {
    expect(await linked('# About #1')).toEqual(['#1'])
    expect(await linked('| a |\n|---|\n| #1 |')).toEqual(['#1'])
    expect(await linked('- *#1*\n- **@ana**\n> ~bug')).toEqual(['#1', '@ana', 'bug'])
  })

  test('of a label may be by number or in quotes, in any script', async () => {
    const { body: label } = await ana.post(`${path}/labels`, { name: 'größe: 大', color: 'red' })
    expect(await linked(`~${label.id} ~"größe: 大"`)).toEqual(['größe: 大', 'größe: 大'])
    await ana.post(`${path}/labels`, { name: 'scope::low', color: 'red' })
    const out = await html('~scope::low')
    expect(out).toContain(`<a href="${url}/issues?label_name=scope%3A%3Alow" class="gfm">`)
  })

  test('of a milestone may be by number or title, also of a group', async () => {
    const group = await createGroup(ana, 'team')
    const inside = await createProject(ana, 'inside', { namespace_id: group.id })
    await ana.post(`/groups/${group.id}/milestones`, { title: 'Of all' })
    await ana.post(`/projects/${inside.id}/milestones`, { title: 'own' })
    const out = await html('%"Of all" %own %none', 'team/inside')
    expect(out).toContain(`<a href="${host}/groups/team/-/milestones/1" class="gfm">%Of all</a>`)
    expect(out).toContain(`<a href="${host}/team/inside/-/milestones/1" class="gfm">%own</a> %none`)
    expect(await linked('%own')).toEqual([])
  })

  test('of another project has its path before it', async () => {
    const other = await openBench(world, ana)
    await ana.post(`/projects/${other.project.id}/issues`, { title: 'there' })
    other.commit('work', { 'a.txt': 'a' })
    await other.open('work')
    const sha = other.project.git('rev-parse', 'main')
    const at = other.project.fullPath
    expect(await linked(`${at}#1 ${at}!1 ${at}@${sha} ${at}#2 ${at}!2`)).toEqual([
      `${at}#1`,
      `${at}!1`,
      `${at}@${sha.slice(0, 8)}`,
    ])
    expect(await html(`${at}!1`)).toContain(`href="${host}/${at}/-/merge_requests/1"`)
  })

  test('of a snippet is seen by whoever may read the snippet', async () => {
    const snippet = { title: 's', file_name: 'a', content: 'b' }
    const open = await ana.post(`${path}/snippets`, { ...snippet, visibility: 'public' })
    const own = await ana.post(`${path}/snippets`, { ...snippet, visibility: 'private' })
    expect(await linked(`$${open.body.id} $${own.body.id} $99999`)).toEqual([`$${open.body.id}`])
  })

  test('is text when the text is of no project', async () => {
    const { body } = await ana.post('/markdown', { text: '#1 @ana ~bug', gfm: true })
    expect(body.html).toBe('<p>#1 @ana ~bug</p>\n')
    const plain = { text: '#1', gfm: false, project: bench.project.fullPath }
    expect((await ana.post('/markdown', plain)).body.html).toBe('<p>#1</p>\n')
  })
})

describe('a link without a scheme', () => {
  test('leads to the default branch, whatever the branch is called', async () => {
    for (const [branch, written] of [
      ['work#1', 'work%231'],
      ['50%', '50%25'],
      ['topic/ä b'.replace(' ', '-'), 'topic/%C3%A4-b'],
    ] as const) {
      bench.commit(branch, { 'd.txt': branch })
      const set = await ana.put(path, { default_branch: branch })
      expect([set.status, set.body.default_branch]).toEqual([200, branch])
      expect(await html('[d](doc/a.md) ![i](b.png)')).toBe(
        `<p><a href="${url}/blob/${written}/doc/a.md">d</a> <img src="${url}/raw/${written}/b.png" alt="i"></p>\n`,
      )
    }
    await ana.put(path, { default_branch: 'main' })
  })

  test('stays inside of the repository, and keeps what is behind its path', async () => {
    expect(await html('[a](../../../etc/passwd)')).toContain(`${url}/blob/main/etc/passwd"`)
    expect(await html('[a](./x.md?plain=1#L3)')).toContain(`${url}/blob/main/x.md?plain=1#L3"`)
    expect(await html('[a](/from/root.md)')).toContain(`${url}/blob/main/from/root.md"`)
    expect(await html('[a](mailto:x@example.com)')).toContain('href="mailto:x@example.com"')
    expect(await html('[a](//example.com/x)')).toContain('href="//example.com/x"')
  })

  test('stays as it is where there is no branch', async () => {
    const empty = await createProject(ana, 'void')
    expect(await html('[a](b.md)', empty.path_with_namespace)).toContain('<a href="')
    expect((await ana.post('/markdown', { text: '[a](b.md)' })).body.html).toBe(
      '<p><a href="b.md">a</a></p>\n',
    )
  })
})
