import { beforeAll, describe, expect, test } from 'vitest'
import { addProject, type TestProject } from '../../support/project.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let basic: TestProject
let renames: TestProject

beforeAll(async () => {
  basic = await addProject(world, ana, 'basic')
  renames = await addProject(world, ana, 'renames')
})

/** Commit and text of each line, as git blames them. */
function blamed(project: TestProject, path: string, ...args: string[]): [string, string][] {
  const text = project.git('blame', '--line-porcelain', ...args, 'main', '--', path)
  const found: [string, string][] = []
  let id = ''
  for (const line of text.split('\n')) {
    id = /^([0-9a-f]{40}) /.exec(line)?.[1] ?? id
    if (line.startsWith('\t')) found.push([id, line.slice(1)])
  }
  return found
}

interface Range {
  readonly commit: { readonly id: string }
  readonly lines: readonly string[]
}

function linesOf(ranges: readonly Range[]): [string, string][] {
  return ranges.flatMap(({ commit, lines }) =>
    lines.map((line): [string, string] => [commit.id, line]),
  )
}

describe('blame', () => {
  test.each([
    ['README.md', () => basic],
    ['dos.txt', () => renames],
    ['left.txt', () => renames],
  ])('of %s is what git says, neighbours together', async (path, project) => {
    const reply = await ana.get(`${project().api}/files/${path}/blame?ref=main`)
    expect(linesOf(reply.body)).toEqual(blamed(project(), path))
    const ids = reply.body.map((range: Range) => range.commit.id)
    expect(ids.some((id: string, i: number) => id === ids[i - 1])).toBe(false)
    expect(Object.keys(reply.body[0].commit)).toEqual([
      'id',
      'parent_ids',
      'message',
      'authored_date',
      'author_name',
      'author_email',
      'committed_date',
      'committer_name',
      'committer_email',
    ])
  })

  test('of some lines', async () => {
    const reply = await ana.get(
      `${renames.api}/files/dos.txt/blame?ref=main&range[start]=40&range[end]=41`,
    )
    expect(linesOf(reply.body)).toEqual(blamed(renames, 'dos.txt', '-L40,41'))
  })

  test('has headers about the file on HEAD, without a body', async () => {
    const head = await ana.head(`${basic.api}/files/README.md/blame?ref=main`)
    expect([head.status, head.body]).toEqual([200, ''])
    for (const prefix of ['svc', 'gitlab']) {
      expect(head.headers.get(`x-${prefix}-file-path`)).toBe('README.md')
      expect(head.headers.get(`x-${prefix}-blob-id`)).toBe(basic.git('rev-parse', 'main:README.md'))
    }
  })

  test.each([
    ['README.md/blame?ref=nowhere', 404, { message: '404 Commit Not Found' }],
    ['none/blame?ref=main', 404, { message: '404 File Not Found' }],
    [
      'README.md/blame?ref=main&range[start]=3&range[end]=2',
      400,
      { error: 'range[start] must be less than or equal to range[end]' },
    ],
    ['README.md/blame?ref=main&range[start]=1', 400, { error: 'range[end] is missing' }],
    [
      'README.md/blame?ref=main&range[start]=0&range[end]=2',
      400,
      { error: 'range[start] does not have a valid value' },
    ],
    ['README.md/blame?ref=main&range=1', 400, { error: 'range is invalid' }],
  ])('%s answers %i', async (path, status, body) => {
    const reply = await ana.get(`${basic.api}/files/${path}`)
    expect([reply.status, reply.body]).toEqual([status, body])
  })

  test('of lines behind the end is empty', async () => {
    const reply = await ana.get(
      `${basic.api}/files/README.md/blame?ref=main&range[start]=50&range[end]=60`,
    )
    expect([reply.status, reply.body]).toEqual([200, []])
  })
})
