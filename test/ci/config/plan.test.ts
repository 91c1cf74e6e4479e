import { describe, expect, test } from 'vitest'
import { PatternBudget } from '../../../src/base/patterns/budget.ts'
import { patternMatcher } from '../../../src/base/patterns/compiled.ts'
import { globPattern } from '../../../src/base/patterns/glob.ts'
import { Problem } from '../../../src/base/problem.ts'
import { compileConfig } from '../../../src/ci/config/compile.ts'
import { secondsOf } from '../../../src/ci/config/duration.ts'
import { planPipeline } from '../../../src/ci/config/plan.ts'
import type { Circumstances } from '../../../src/ci/config/rules.ts'
import { readConfigFile } from '../../../src/ci/config/yaml.ts'

const limits = { maxBytes: 100_000, maxDepth: 100 }

function at(more: Partial<Circumstances> = {}): Circumstances {
  return {
    ref: 'main',
    tag: false,
    source: 'push',
    variables: new Map([['CI_COMMIT_BRANCH', 'main']]),
    overriding: new Set(),
    patterns: new PatternBudget(),
    paths: async () => ['README.md', 'docs/a/b.md'],
    changed: async () => ['src/main.c'],
    ...more,
  }
}

const compiled = async (text: string) =>
  await compileConfig((await readConfigFile(text, limits)).content, new PatternBudget())

async function plan(text: string, given: Partial<Circumstances> = {}) {
  const found = await planPipeline(await compiled(text), at(given))
  if (typeof found === 'string') throw new Error(found)
  return found
}

async function names(text: string, given: Partial<Circumstances> = {}): Promise<string[]> {
  return (await plan(text, given)).jobs.map((job) => job.name)
}

async function faultOf(text: string): Promise<string> {
  try {
    await plan(text)
    return 'none'
  } catch (error) {
    return error instanceof Problem ? (error.fields?.base?.[0] ?? '') : String(error)
  }
}

describe('a configuration', () => {
  test('gives jobs their stage, script and defaults', async () => {
    const { jobs, stages } = await plan(`
default:
  image: node
  before_script: [npm ci]
stages: [check, ship]
lint:
  stage: check
  script: npm run lint
deploy:
  stage: ship
  image: alpine
  inherit: {default: [image]}
  script:
    - echo one
    - [echo two, [echo three]]
  when: manual
`)
    expect(stages).toEqual(['check', 'ship'])
    expect(jobs).toMatchObject([
      {
        name: 'lint',
        stage: 'check',
        when: 'on_success',
        allowFailure: false,
        options: { image: 'node', before_script: ['npm ci'], script: ['npm run lint'] },
      },
      {
        name: 'deploy',
        when: 'manual',
        allowFailure: true,
        options: { image: 'alpine', script: ['echo one', 'echo two', 'echo three'] },
      },
    ])
    expect(jobs[1]?.options).not.toHaveProperty('before_script')
  })

  test('takes templates by extends, anchors, merge keys and references', async () => {
    const { jobs } = await plan(`
.base: &base
  image: a
  variables: {A: "1", B: "1"}
.more:
  extends: .base
  variables: {B: "2"}
.scripts:
  first: [echo first]
  both: [!reference [.scripts, first], echo second]
job:
  extends: .more
  variables: {C: "3"}
  script: [!reference [.scripts, both], echo third]
other:
  <<: *base
  script: x
`)
    expect(jobs[0]?.options.script).toEqual(['echo first', 'echo second', 'echo third'])
    expect(jobs[0]?.options.image).toBe('a')
    expect(jobs[0]?.variables).toEqual([
      { key: 'A', value: '1', raw: false },
      { key: 'B', value: '2', raw: false },
      { key: 'C', value: '3', raw: false },
    ])
    expect(jobs[1]?.options.image).toBe('a')
  })

  test.each([
    ['just a text', 'Invalid configuration format'],
    ['a: [', 'Invalid configuration format: '],
    ['stages: [a]', 'jobs config should contain at least one visible job'],
    ['.hidden: {script: x}', 'jobs config should contain at least one visible job'],
    ['x: {script: y, foo: 1}', 'jobs:x config contains unknown keys: foo'],
    ['x: {stage: test}', 'jobs:x config should implement the script:, run:, or trigger: keyword'],
    [
      'x: {script: 1}',
      'jobs:x:script config should be a string or a nested array of strings up to 10 levels deep',
    ],
    [
      'x: {script: y, stage: nope}',
      'x job: chosen stage nope does not exist; available stages are .pre, build, test, deploy, .post',
    ],
    ['x: {script: y, needs: [z]}', 'x job: undefined need: z'],
    [
      'x: {script: y, stage: build, needs: [z]}\nz: {script: y}',
      'x job: need z is not defined in current or prior stages',
    ],
    ['x: {script: y, needs: [z]}\nz: {script: y, needs: [x]}', 'circular'],
    ['x: {script: y, extends: .no}', 'x: unknown keys in `extends` (.no)'],
    ['.a: {extends: .b}\n.b: {extends: .a}\nx: {script: y, extends: .a}', 'circular dependency'],
    ['x: {script: [!reference [.no, script]]}', 'could not be found'],
    ['x: {script: [!reference [x, script]]}', 'circular chain'],
    ['x: {script: y, rules: [], only: [main]}', 'config key may not be used with `rules`: only'],
    ['x: {script: y, rules: [{if: "$A =="}]}', 'jobs:x:rules:rule if invalid expression syntax'],
    ['x: {script: y, when: later}', 'jobs:x when should be one of: on_success'],
    ['x: {script: y, when: delayed}', 'jobs:x start in should be a duration'],
    ['x: {script: y, dependencies: [z]}', 'x job: undefined dependency: z'],
    ['x: {script: y, parallel: 500}', 'jobs:x:parallel'],
  ])('%s is refused', async (text, words) => {
    expect(await faultOf(text)).toContain(words)
  })

  test('that grows without end is refused', async () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    for (let at = 1; at < 9; at += 1) {
      const item = `*a${at - 1}`
      lines.push(`a${at}: &a${at} [${Array(10).fill(item).join(', ')}]`)
    }
    expect(await faultOf(lines.join('\n'))).toContain('Invalid configuration format')
  })
})

describe('rules', () => {
  const text = `
workflow:
  rules:
    - if: $CI_COMMIT_BRANCH
always: {script: x}
only_tags: {script: x, only: [tags]}
not_main: {script: x, except: [main]}
by_name: {script: x, only: [/^ma.n$/]}
first_match:
  script: x
  rules:
    - if: $NOTHING
    - if: $CI_COMMIT_BRANCH == "main"
      when: manual
      variables: {HOW: rule}
no_match:
  script: x
  rules:
    - if: $NOTHING
never:
  script: x
  rules:
    - when: never
changed:
  script: x
  rules:
    - changes: [src/**/*.c]
unchanged:
  script: x
  rules:
    - changes: [docs/*]
there:
  script: x
  rules:
    - exists: ["docs/**/*.md"]
`
  test('decide which jobs there are', async () => {
    expect(await names(text)).toEqual(['always', 'by_name', 'first_match', 'changed', 'there'])
    const { jobs } = await plan(text)
    const job = jobs.find(({ name }) => name === 'first_match')
    expect(job).toMatchObject({ when: 'manual', allowFailure: false })
    expect(job?.variables).toEqual([{ key: 'HOW', value: 'rule', raw: false }])
  })

  test('count as changed where there is nothing to compare with', async () => {
    expect(await names(text, { changed: async () => undefined })).toContain('unchanged')
  })

  test('of the workflow can leave no pipeline at all', async () => {
    await expect(plan(text, { variables: new Map() })).rejects.toThrow('workflow')
    await expect(plan('x: {script: y, only: [tags]}')).rejects.toThrow('no_jobs')
    await expect(plan('x: {script: y, stage: .post}')).rejects.toThrow('no_jobs')
  })

  test('variables of the run lie over those of the file', async () => {
    const file = 'variables: {A: file}\nx: {script: y, rules: [{if: $A == "run"}]}'
    await expect(plan(file)).rejects.toThrow('no_jobs')
    const variables = new Map([['A', 'run']])
    expect(await names(file, { variables, overriding: variables })).toEqual(['x'])
  })

  test('what is named by variables is named by those that the job gets', async () => {
    const text = `
variables: {ENV: file, GROUP: file, TAG: file, CI_PROJECT_TITLE: file}
x:
  script: y
  environment: {name: $ENV/$CI_PROJECT_TITLE/$COPY}
  resource_group: $GROUP
  tags: [$TAG]
  variables: {TAG: job}
  parallel: {matrix: [{COPY: [one]}]}
  rules: [{if: $CI_PROJECT_TITLE == "file", variables: {GROUP: rule}}]
`
    const set = new Map([
      ['ENV', 'set'],
      ['TAG', 'set'],
    ])
    const variables = new Map([...set, ['CI_PROJECT_TITLE', 'Ours']])
    const { jobs } = await plan(text, { variables, overriding: set })
    expect(jobs).toMatchObject([
      { environment: { name: 'set/file/one' }, resourceGroup: 'rule', tags: ['set'] },
    ])
  })
})

describe('parallel jobs', () => {
  test('become several, and those who need them need all', async () => {
    const { jobs } = await plan(`
many: {script: x, parallel: 2, stage: build}
grid:
  script: x
  stage: build
  parallel:
    matrix:
      - {OS: [linux, mac], ARCH: arm}
after: {script: x, needs: [many, {job: grid, artifacts: false}, {job: gone, optional: true}]}
`)
    expect(jobs.map(({ name }) => name)).toEqual([
      'many 1/2',
      'many 2/2',
      'grid: [linux, arm]',
      'grid: [mac, arm]',
      'after',
    ])
    expect(jobs[4]?.needs?.map(({ job, artifacts }) => [job, artifacts])).toEqual([
      ['many 1/2', true],
      ['many 2/2', true],
      ['grid: [linux, arm]', false],
      ['grid: [mac, arm]', false],
    ])
    expect(jobs[2]?.variables).toContainEqual({ key: 'OS', value: 'linux', raw: false })
  })
})

describe('small readers', () => {
  test.each([
    ['90', 90],
    ['1h 30m', 5400],
    ['3 hours and 2 minutes', 10_920],
    ['1 week', 604_800],
    ['soon', undefined],
    ['', undefined],
  ])('%s lasts %s seconds', (text, seconds) => {
    expect(secondsOf(text)).toBe(seconds)
  })

  test.each([
    ['*.md', 'a.md', true],
    ['*.md', 'a/b.md', false],
    ['**/*.md', 'a.md', true],
    ['**/*.md', 'a/b/c.md', true],
    ['docs/**', 'docs/a/b', true],
    ['{a,b}.c', 'b.c', true],
    ['[ab].c', 'c.c', false],
    ['[!ab].c', 'c.c', true],
    ['a.c', 'aXc', false],
    ['/top', 'top', true],
  ])('%s against %s', (pattern, path, fits) => {
    expect(patternMatcher(globPattern(pattern))(path)).toBe(fits)
  })
})

describe('a file that is read again', () => {
  const text = 'build:\n  script: [make]\n  variables: { MODE: fast }\n'

  test('is parsed and compiled once, and nobody can change what the others see', async () => {
    const { content } = await readConfigFile(text, limits)
    expect((await readConfigFile(text, limits)).content).toBe(content)
    expect(await compiled(text)).toBe(await compileConfig(content, new PatternBudget()))
    const build = content.build as { script: string[] }
    expect(() => build.script.push('make install')).toThrow(TypeError)
  })

  test('is another one after the slightest change', async () => {
    const changed = await compiled(text.replace('fast', 'slow'))
    expect(changed.jobs[0]?.variables).toMatchObject([{ key: 'MODE', value: 'slow' }])
    const { content } = await readConfigFile(text, limits)
    expect((await compileConfig(content, new PatternBudget())).jobs[0]?.variables).toMatchObject([
      { key: 'MODE', value: 'fast' },
    ])
  })

  test('is refused by stricter limits, though it was read before', async () => {
    await readConfigFile(text, limits)
    await expect(readConfigFile(text, { maxBytes: 10, maxDepth: 100 })).rejects.toThrow(Problem)
    await expect(readConfigFile(text, { maxBytes: 100_000, maxDepth: 1 })).rejects.toThrow(Problem)
  })
})
