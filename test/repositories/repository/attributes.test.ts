import { beforeAll, describe, expect, test } from 'vitest'
import { parseAttributes } from '../../../src/repositories/repository/attributes.ts'
import { git } from '../../support/git.ts'
import { type Bench, openBench } from '../../support/review.ts'
import { useCaller, useWorld } from '../../support/world.ts'

const world = useWorld()
const ana = useCaller(world, 'ana')
let bench: Bench

const attributes = [
  '# a comment',
  '*.gen.ts linguist-generated',
  'docs/** gitlab-generated=true',
  'docs/hand.md -linguist-generated -gitlab-generated',
  'yarn.lock -linguist-generated',
  '/top.txt linguist-generated=true',
  'data/*.json -diff',
  '*.bin2 binary',
  'folder/ linguist-generated',
  '[attr]macro linguist-generated',
  `${'(a+)+'.repeat(50)}* linguist-generated`,
  '{a,b}.txt linguist-generated',
].join('\n')

/** Path by path: whether a program writes it, and whether its lines are left out. */
const expected: Readonly<Record<string, readonly [boolean, boolean]>> = {
  'src/a.gen.ts': [true, false],
  'src/a.ts': [false, false],
  'docs/deep/er/a.md': [true, false],
  'docs/hand.md': [false, false],
  'yarn.lock': [false, false],
  'package-lock.json': [true, false],
  'top.txt': [true, false],
  'sub/top.txt': [false, false],
  'data/a.json': [false, true],
  'data/below/a.json': [false, false],
  'x/y.bin2': [false, true],
  'folder/a.txt': [false, false],
  'a.txt': [false, false],
  'nested/plain.gen.ts': [false, false],
  'nested/other.md': [true, false],
}

beforeAll(async () => {
  bench = await openBench(world, ana)
  const files = Object.fromEntries(Object.keys(expected).map((path) => [path, `${path}\n`]))
  bench.commit('topic', {
    ...files,
    '.gitattributes': attributes,
    'nested/.gitattributes': '*.ts -linguist-generated\nother.md linguist-generated\n',
  })
})

describe('the attributes of the commit that a diff leads to', () => {
  test('say which changed files a program writes, and which are not worth a look', async () => {
    const { iid } = (await bench.open('topic')).body
    const { body } = await ana.get(`${bench.api}/${iid}/changed_files`)
    const found = Object.fromEntries(
      body
        .filter(({ new_path: path }: { new_path: string }) => path in expected)
        .map((file: { new_path: string; generated_file: boolean; diff_suppressed: boolean }) => [
          file.new_path,
          [file.generated_file, file.diff_suppressed],
        ]),
    )
    expect(found).toEqual(expected)
    type Shown = { new_path: string; generated_file: boolean }
    const isGenerated = ({ generated_file }: Shown) => generated_file
    const names = (files: Shown[]) => files.filter(isGenerated).map(({ new_path }) => new_path)
    const generated = Object.keys(expected).filter((path) => expected[path]?.[0])
    const sha = bench.project.git('rev-parse', 'topic')
    const lists = [
      (await ana.get(`${bench.api}/${iid}/diffs?per_page=100`)).body,
      (await ana.get(`${bench.api}/${iid}/changes`)).body.changes,
      (await ana.get(`${bench.api}/${iid}/changes?unidiff=true`)).body.changes,
      (await ana.get(`${bench.project.api}/commits/${sha}/diff?per_page=100`)).body,
      (await ana.get(`${bench.project.api}/compare?from=main&to=topic`)).body.diffs,
    ]
    for (const list of lists) expect(names(list).sort()).toEqual([...generated].sort())
  })

  test('are read as git reads them', () => {
    const paths = Object.keys(expected)
    const { path } = bench.project
    const env = { GIT_INDEX_FILE: `${path}/attributes-test-index` }
    git(path, ['read-tree', 'topic'], { env })
    const marks = ['linguist-generated', 'gitlab-generated', 'diff']
    const said = git(path, ['check-attr', '--cached', ...marks, '--', ...paths], { env })
    const has = (one: string, mark: string, ...values: string[]) =>
      values.some((value) => said.includes(`${one}: ${mark}: ${value}\n`))
    for (const one of paths) {
      const isSet = marks.slice(0, 2).some((mark) => has(one, mark, 'set', 'true'))
      const isByName = one === 'package-lock.json'
      const isSuppressed = `${said}\n`.includes(`${one}: diff: unset\n`)
      expect([one, isSet || isByName, isSuppressed]).toEqual([one, ...(expected[one] ?? [])])
    }
  })

  test('of lines that say nothing of this nothing is kept', () => {
    expect(parseAttributes('* text=auto\n*.png filter=lfs diff=lfs merge=lfs -text\n', '')).toEqual(
      [expect.objectContaining({ says: [['diff', true]] })],
    )
    expect(parseAttributes('"quoted name" -diff\n!*.ts -diff\n', 'a')).toEqual([])
  })
})
