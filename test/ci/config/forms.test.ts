import { describe, expect, test } from 'vitest'
import { PatternBudget } from '../../../src/base/patterns/budget.ts'
import { patternMatcher } from '../../../src/base/patterns/compiled.ts'
import { globPattern } from '../../../src/base/patterns/glob.ts'
import { Problem } from '../../../src/base/problem.ts'
import { compileConfig } from '../../../src/ci/config/compile.ts'
import { nextRun } from '../../../src/ci/config/cron.ts'
import { secondsOf } from '../../../src/ci/config/duration.ts'
import { parseExpression } from '../../../src/ci/config/expression.ts'
import { fillInputs } from '../../../src/ci/config/inputs.ts'
import { planPipeline } from '../../../src/ci/config/plan.ts'
import type { Circumstances } from '../../../src/ci/config/rules.ts'
import type { ValueMap } from '../../../src/ci/config/values.ts'
import { readConfigFile } from '../../../src/ci/config/yaml.ts'
import {
  compositeStatus,
  type StatusPart,
} from '../../../src/ci/pipelines/process/composite-status.ts'

const limits = { maxBytes: 100_000, maxDepth: 100 }

async function plan(text: string, more: Partial<Circumstances> = {}, inputs: ValueMap = {}) {
  const patterns = new PatternBudget()
  const file = await readConfigFile(text, limits)
  const found = await planPipeline(
    await compileConfig(await fillInputs(file, inputs, 'ci.yml', patterns), patterns),
    {
      ref: 'main',
      tag: false,
      source: 'push',
      variables: new Map([['CI_COMMIT_BRANCH', 'main']]),
      overriding: more.variables ?? new Set(),
      patterns,
      paths: async () => ['README.md', 'docs/a/b.md', 'Dockerfile'],
      changed: async () => ['src/main.c', 'docs/a/b.md'],
      ...more,
    },
  )
  if (typeof found === 'string') throw new Error(found)
  return found
}

async function names(text: string, more: Partial<Circumstances> = {}): Promise<string[]> {
  return (await plan(text, more)).jobs.map(({ name }) => name)
}

async function jobOf(text: string, more: Partial<Circumstances> = {}, inputs: ValueMap = {}) {
  const [job] = (await plan(text, more, inputs)).jobs
  if (!job) throw new Error('no job')
  return job
}

async function faultOf(text: string, inputs: ValueMap = {}): Promise<string> {
  try {
    await plan(text, {}, inputs)
    return 'none'
  } catch (error) {
    return error instanceof Problem ? (error.fields?.base?.join(', ') ?? '') : String(error)
  }
}

function valuesOf({ variables }: Awaited<ReturnType<typeof jobOf>>): Record<string, string> {
  return Object.fromEntries(variables.map(({ key, value }) => [key, value]))
}

describe('a plain value of a variable', () => {
  test.each([
    ['12345678901234567890', '12345678901234567890'],
    ['-9007199254740993', '-9007199254740993'],
    ['1.0', '1.0'],
    ['3.10', '3.10'],
    ['-1.25', '-1.25'],
    ['08', '08'],
    ['12e4567', '12e4567'],
    ['1e3', '1e3'],
    ['.inf', '.inf'],
    ['2026-01-01', '2026-01-01'],
    ['12:30:45', '12:30:45'],
    ['n', 'n'],
    ['42', '42'],
    ['0', '0'],
    ['1_000', '1000'],
    ['0x1F', '31'],
    ['0777', '511'],
    ['yes', 'true'],
    ['off', 'false'],
    ['~', ''],
    ['', ''],
    ["'1.0'", '1.0'],
    ['"a\\tb"', 'a\tb'],
  ])('%s is %j', async (written, value) => {
    const text = `variables:\n  A: ${written}\nx: {script: y}`
    expect(valuesOf(await jobOf(text))).toEqual({ A: value })
  })

  test.each([
    '[a]',
    '{value: [a]}',
    '{value: a, describe: b}',
    '{value: a, expand: false, mask: true}',
  ])('is no %s', async (written) => {
    expect(await faultOf(`variables: {A: ${written}}\nx: {script: y}`)).toBe(
      'variables config should be a hash of key value pairs',
    )
  })

  test('may be described, offer choices, and be left as it is written', async () => {
    const job = await jobOf(`
variables:
  WHERE: {value: here, description: Where to, options: [here, there]}
  RAW: {value: $WHERE, expand: false}
  EMPTY: {description: Say something}
x: {script: y}`)
    expect(job.variables).toEqual([
      { key: 'WHERE', value: 'here', raw: false },
      { key: 'RAW', value: '$WHERE', raw: true },
      { key: 'EMPTY', value: '', raw: false },
    ])
  })
})

describe('default', () => {
  test('gives a job each of its keywords, and a job replaces what it says itself', async () => {
    const { jobs } = await plan(`
default:
  image: node
  services: [redis]
  before_script: [one]
  after_script: [two]
  artifacts: {paths: [out]}
  cache: {paths: [m]}
  hooks: {pre_get_sources_script: [three]}
  id_tokens: {T: {aud: a}}
  interruptible: true
  retry: 1
  tags: [fast]
  timeout: 1h
x: {script: y}
own: {script: y, artifacts: {exclude: [tmp]}, tags: [], interruptible: false, timeout: 2h}
`)
    expect(jobs[0]).toMatchObject({ interruptible: true, tags: ['fast'], timeout: 3600 })
    expect(jobs[0]?.options).toEqual({
      image: 'node',
      services: ['redis'],
      before_script: ['one'],
      after_script: ['two'],
      artifacts: { paths: ['out'] },
      cache: { paths: ['m'] },
      hooks: { pre_get_sources_script: ['three'] },
      id_tokens: { T: { aud: 'a' } },
      retry: 1,
      script: ['y'],
    })
    expect(jobs[1]).toMatchObject({ interruptible: false, tags: [], timeout: 7200 })
    expect(jobs[1]?.options.artifacts).toEqual({ exclude: ['tmp'] })
  })

  test('at the top of the file is an older form, which `default:` lies over', async () => {
    const { options } = await jobOf(
      'image: old\nservices: [db]\nbefore_script: [a]\ndefault: {image: new}\nx: {script: y}',
    )
    expect(options).toMatchObject({ image: 'new', services: ['db'], before_script: ['a'] })
  })

  test('is inherited whole, in part or not at all', async () => {
    const { jobs } = await plan(`
default: {image: node, tags: [fast], before_script: [a]}
variables: {A: a, B: b}
none: {script: y, inherit: {default: false, variables: false}}
some: {script: y, inherit: {default: [image], variables: [B]}}
all: {script: y, inherit: {default: true, variables: true}}
`)
    expect(jobs.map(({ options, tags }) => [options.image, options.before_script, tags])).toEqual([
      [undefined, undefined, []],
      ['node', undefined, []],
      ['node', ['a'], ['fast']],
    ])
    expect(jobs.map(valuesOf)).toEqual([{}, { B: 'b' }, { A: 'a', B: 'b' }])
  })

  test('gives a job that starts a pipeline nothing but whether it may be interrupted', async () => {
    const job = await jobOf(
      'default: {image: node, interruptible: true, before_script: [a]}\nx: {trigger: a/b}',
    )
    expect(job).toMatchObject({ kind: 'bridge', interruptible: true, options: { trigger: 'a/b' } })
    expect(Object.keys(job.options)).toEqual(['trigger'])
  })
})

describe('stages', () => {
  test('are build, test and deploy where nobody names any, with those before and after', async () => {
    const { stages, jobs } = await plan(`
last: {stage: .post, script: y}
ship: {stage: deploy, script: y}
check: {script: y}
make: {stage: build, script: y}
first: {stage: .pre, script: y}
`)
    expect(stages).toEqual(['.pre', 'build', 'test', 'deploy', '.post'])
    expect(jobs.find(({ name }) => name === 'check')?.stage).toBe('test')
  })

  test('stay first and last wherever they are listed, and count once', async () => {
    const { stages } = await plan(`
stages: [.post, b, a, b, .pre]
w: {stage: .pre, script: y}
x: {stage: a, script: y}
y: {stage: b, script: y}
z: {stage: .post, script: y}
`)
    expect(stages).toEqual(['.pre', 'b', 'a', '.post'])
  })

  test('that are not listed are refused by name', async () => {
    expect(await faultOf('stages: [a]\nx: {script: y}')).toBe(
      'x job: chosen stage test does not exist; available stages are .pre, a, .post',
    )
  })
})

describe('templates', () => {
  test('of a list are merged in its order, maps key by key and lists whole', async () => {
    const { options, variables } = await jobOf(`
.one: {image: a, script: [a], variables: {A: one, B: one}, artifacts: {paths: [a], when: always}}
.two: {image: b, variables: {B: two}, artifacts: {paths: [b]}}
x: {extends: [.one, .two], variables: {C: own}}
`)
    expect(options).toMatchObject({
      image: 'b',
      script: ['a'],
      artifacts: { paths: ['b'], when: 'always' },
    })
    expect(variables.map(({ value }) => value)).toEqual(['one', 'two', 'own'])
  })

  test('may be eleven deep and no deeper, and never extend themselves', async () => {
    const chain = (depth: number) =>
      Array.from({ length: depth }, (_, at) => `.t${at}: {extends: .t${at + 1}}`).join('\n')
    expect(await names(`${chain(10)}\n.t10: {script: y}\nx: {extends: .t0}`)).toEqual(['x'])
    const deeper = `${chain(11)}\n.t11: {script: y}\nx: {extends: .t0}`
    expect(await faultOf(deeper)).toMatch(/nesting too deep in `extends`/)
    expect(await faultOf('.a: {extends: .b}\n.b: {extends: .a}\nx: {script: y}')).toBe(
      '.a: circular dependency detected in `extends`',
    )
    expect(await faultOf('x: {extends: .gone, script: y}')).toBe(
      'x: unknown keys in `extends` (.gone)',
    )
  })

  test('take a key away by null, and the default with it', async () => {
    const { options } = await jobOf(`
default: {image: node}
.t: {cache: {paths: [m]}, script: [y]}
x: {extends: .t, cache: null, image: null}
`)
    expect(Object.keys(options)).toEqual(['script'])
  })

  test('are found by references after they were extended, and within each other', async () => {
    const { options } = await jobOf(`
.base: {script: [base]}
.more: {extends: .base, after_script: [!reference [.base, script], more]}
x:
  script: [!reference [.more, script], !reference [.more, after_script]]
`)
    expect(options.script).toEqual(['base', 'base', 'more'])
  })

  test('that a reference does not find, or only in a circle, are faults', async () => {
    expect(await faultOf('x: {script: [!reference [.gone, script]]}')).toBe(
      '!reference [".gone","script"] could not be found',
    )
    expect(await faultOf('.a: [!reference [.b]]\n.b: [!reference [.a]]\nx: {script: y}')).toMatch(
      /is part of a circular chain/,
    )
  })

  test('by anchors and merge keys are those of the file, the nearer key winning', async () => {
    const { options, variables } = await jobOf(`
.vars: &vars {A: a, B: a}
.job: &job {image: a, script: [a]}
x:
  <<: *job
  script: [b]
  variables: {<<: *vars, B: b}
`)
    expect(options).toMatchObject({ image: 'a', script: ['b'] })
    expect(variables.map(({ key, value }) => key + value)).toEqual(
      expect.arrayContaining(['Aa', 'Bb']),
    )
  })
})

describe('needs', () => {
  test.each([
    [
      'a: {script: y, needs: [b]}\nb: {script: y, needs: [a]}',
      'The pipeline has circular dependencies',
    ],
    ['a: {script: y, needs: [a]}', 'The pipeline has circular dependencies'],
    [
      'a: {script: y, parallel: 2, needs: [b]}\nb: {script: y, needs: ["a 1/2"]}',
      'The pipeline has circular dependencies',
    ],
    [
      'a: {script: y, rules: [{needs: [b]}]}\nb: {script: y, needs: [a]}',
      'The pipeline has circular dependencies',
    ],
    [
      'a: {stage: build, script: y, needs: [b]}\nb: {script: y}',
      'a job: need b is not defined in current or prior stages',
    ],
    [
      'a: {stage: build, script: y, needs: ["b 1/2"]}\nb: {script: y, parallel: 2}',
      'a job: need b 1/2 is not defined in current or prior stages',
    ],
    [
      'a: {stage: build, script: y, rules: [{needs: [b]}]}\nb: {script: y}',
      'a job: need b is not defined in current or prior stages',
    ],
    [
      'a: {stage: build, script: y}\nb: {script: y, needs: [a, a]}',
      'b has the following needs duplicated: a.',
    ],
    ['b: {script: y, needs: [gone]}', 'b job: undefined need: gone'],
    ['b: {script: y, dependencies: [gone]}', 'b job: undefined dependency: gone'],
    [
      'a: {stage: build, script: y, dependencies: [b]}\nb: {script: y}',
      'a job: dependency b is not defined in current or prior stages',
    ],
  ])('%j is refused', async (text, fault) => {
    expect(await faultOf(text)).toBe(fault)
  })

  test('of a job whose rules leave it out are refused unless they are optional', async () => {
    const text = (optional: boolean) => `
a: {stage: build, script: y, rules: [{when: never}]}
b: {script: y, needs: [{job: a, optional: ${optional}}]}`
    expect(await faultOf(text(false))).toContain("'b' job needs 'a' job, but 'a' does not exist")
    expect((await plan(text(true))).jobs[0]?.needs).toEqual([])
  })

  test('of a rule take the place of those of the job', async () => {
    const { jobs } = await plan(`
a: {stage: build, script: y}
b: {stage: build, script: y}
c: {script: y, needs: [a], rules: [{if: $CI_COMMIT_BRANCH, needs: [{job: b, artifacts: false}]}]}`)
    expect(jobs[2]?.needs).toEqual([{ job: 'b', artifacts: false, optional: false }])
  })

  test('of nothing begin at once, and a list that is not there waits for the stages before', async () => {
    const { jobs } = await plan(
      'a: {script: y, needs: []}\nb: {script: y}\nc: {script: y, needs: a}',
    )
    expect(jobs.map(({ needs }) => needs?.map(({ job }) => job))).toEqual([[], undefined, ['a']])
  })
})

describe('parallel', () => {
  test('makes numbered copies, and a matrix one for each combination of its lines', async () => {
    const { jobs } = await plan(`
n: {script: y, parallel: 3}
m:
  script: y
  tags: [$OS, "x-\${ARCH}"]
  resource_group: $OS
  environment: {name: $OS/$ARCH}
  parallel: {matrix: [{OS: [linux, mac], ARCH: [arm, 64]}, {OS: bsd}]}
`)
    expect(jobs.map(({ name, copy }) => [name, copy?.index, copy?.total])).toEqual([
      ['n 1/3', 1, 3],
      ['n 2/3', 2, 3],
      ['n 3/3', 3, 3],
      ['m: [linux, arm]', 1, 5],
      ['m: [linux, 64]', 2, 5],
      ['m: [mac, arm]', 3, 5],
      ['m: [mac, 64]', 4, 5],
      ['m: [bsd]', 5, 5],
    ])
    expect(jobs[4]).toMatchObject({
      tags: ['linux', 'x-64'],
      resourceGroup: 'linux',
      environment: { name: 'linux/64' },
    })
  })

  test.each(['0', '201', '1.5', 'two', '{matrix: []}', '{matrix: [a]}', '{grid: [{A: b}]}'])(
    '%s is refused',
    async (written) => {
      expect(await faultOf(`x: {script: y, parallel: ${written}}`)).toBe(
        'jobs:x:parallel should be an integer between 1 and 200, or a matrix',
      )
    },
  )

  test('of more than 200 combinations is refused', async () => {
    const list = (count: number) => `[${Array.from({ length: count }, (_, at) => at).join(', ')}]`
    const grid = (count: number) =>
      `x: {script: y, parallel: {matrix: [{A: ${list(20)}, B: ${list(count)}}]}}`
    expect((await plan(grid(10))).jobs).toHaveLength(200)
    expect(await faultOf(grid(11))).toMatch(/parallel should be an integer between 1 and 200/)
  })
})

describe('rules', () => {
  const decided = async (rules: string, more: Partial<Circumstances> = {}, own = '') => {
    const found = await plan(`x: {script: y, ${own} rules: ${rules}}\nother: {script: y}`, more)
    const job = found.jobs.find(({ name }) => name === 'x')
    return job && [job.when, job.allowFailure, job.startIn]
  }

  test.each([
    ['[]', '', undefined],
    ['[{if: $GONE}]', '', undefined],
    ['[{when: never}, {when: always}]', '', undefined],
    ['[{if: $GONE, when: never}, {when: always}]', '', ['always', false, undefined]],
    ['[{when: manual}]', '', ['manual', false, undefined]],
    ['[{when: manual, allow_failure: true}]', '', ['manual', true, undefined]],
    ['[{when: on_failure}]', 'when: manual,', ['on_failure', false, undefined]],
    ['[{if: $CI_COMMIT_BRANCH}]', 'when: always,', ['always', false, undefined]],
    ['[{if: $CI_COMMIT_BRANCH}]', 'allow_failure: true,', ['on_success', true, undefined]],
    ['[{allow_failure: false}]', 'allow_failure: true,', ['on_success', false, undefined]],
    ['[{when: delayed, start_in: 30 minutes}]', '', ['delayed', false, 1800]],
    ['[[{if: $GONE}], [[{when: always}]]]', '', ['always', false, undefined]],
    ['[{changes: [src/*.c]}]', '', ['on_success', false, undefined]],
    ['[{changes: {paths: ["*.c"]}}]', '', undefined],
    ['[{changes: ["$DIR/*"]}]', 'variables: {DIR: src},', ['on_success', false, undefined]],
    ['[{exists: [Dockerfile]}]', '', ['on_success', false, undefined]],
    ['[{exists: {paths: ["**/*.md"]}}]', '', ['on_success', false, undefined]],
    ['[{exists: [docs]}]', '', undefined],
    ['[{if: $GONE, exists: [Dockerfile]}]', '', undefined],
    ['[{exists: [Dockerfile], changes: [Dockerfile]}]', '', undefined],
  ])('%s with %j', async (rules, own, expected) => {
    expect(await decided(rules, {}, own)).toEqual(expected)
  })

  test('that delay a job must say how long', async () => {
    expect(await faultOf('x: {script: y, rules: [{when: delayed}]}')).toBe(
      'jobs:x:rules:rule start in should be a duration',
    )
  })

  test('see the variables of the job under those of the run, and may add some', async () => {
    const text = `
variables: {A: global}
x: {script: y, variables: {A: job}, rules: [{if: $A == "job", variables: {A: rule, B: $A}}]}`
    expect(valuesOf(await jobOf(text))).toEqual({ A: 'rule', B: '$A' })
    await expect(plan(text, { variables: new Map([['A', 'run']]) })).rejects.toThrow('no_jobs')
  })

  test('may interrupt, or not, what the job says otherwise', async () => {
    const { jobs } = await plan(`
x: {script: y, rules: [{interruptible: true}]}
z: {script: y, interruptible: true, rules: [{interruptible: false}]}`)
    expect(jobs.map(({ interruptible }) => interruptible)).toEqual([true, false])
  })

  test('compare with another ref where they name one', async () => {
    const asked: unknown[] = []
    const changed = async (other?: string) => {
      asked.push(other)
      return other === 'refs/heads/old' ? ['a'] : ['b']
    }
    const rule = '{changes: {paths: [a], compare_to: refs/heads/$OLD}}'
    const found = await names(`x: {script: y, variables: {OLD: old}, rules: [${rule}]}`, {
      changed,
    })
    expect([found, asked]).toEqual([['x'], ['refs/heads/old']])
  })

  test.each([
    ['x: {script: y, rules: []}', 'no_jobs'],
    ['x: {script: y, rules: [{when: never}]}\nz: {script: y, rules: [{if: $GONE}]}', 'no_jobs'],
    ['workflow: {rules: []}\nx: {script: y}', 'workflow'],
    ['workflow: {rules: [{if: $GONE}]}\nx: {script: y}', 'workflow'],
    ['workflow: {rules: [{when: never}, {when: always}]}\nx: {script: y}', 'workflow'],
  ])('%j leave no pipeline: %s', async (text, reason) => {
    await expect(plan(text)).rejects.toThrow(reason)
  })

  test('of the workflow give every job variables, and the pipeline its name', async () => {
    const { name, jobs } = await plan(`
workflow:
  name: ' $KIND of $CI_COMMIT_BRANCH '
  rules: [{if: $CI_COMMIT_BRANCH == "main", variables: {KIND: release}}]
variables: {KIND: draft}
x: {script: y, rules: [{if: $KIND == "release"}]}`)
    expect(name).toBe('release of main')
    expect(jobs[0] && valuesOf(jobs[0])).toEqual({ KIND: 'release' })
  })
})

describe('only and except', () => {
  const tagged = { ref: 'v1', tag: true }
  const request = { ref: 'refs/merge-requests/1/head', source: 'merge_request_event' }
  test.each<[string, Partial<Circumstances>, boolean]>([
    ['', {}, true],
    ['', tagged, true],
    ['', request, false],
    ['only: [main]', {}, true],
    ['only: [master]', {}, false],
    ['only: main', {}, true],
    ['only: [/^ma/]', {}, true],
    ['only: [/^MA/]', {}, false],
    ['only: [/^MA/i]', {}, true],
    ['only: [tags]', {}, false],
    ['only: [tags]', tagged, true],
    ['only: [branches]', tagged, false],
    ['only: [merge_requests]', request, true],
    ['only: [branches]', request, false],
    ['only: [schedules]', { source: 'schedule' }, true],
    ['only: [triggers]', { source: 'trigger' }, true],
    ['only: [pipelines]', { source: 'pipeline' }, true],
    ['only: [api]', { source: 'api' }, true],
    ['only: [web]', { source: 'api' }, false],
    ['only: [pushes]', {}, true],
    ['only: [external]', {}, false],
    ['only: [main@ana/app]', { variables: new Map([['CI_PROJECT_PATH', 'ana/app']]) }, true],
    ['only: [main@ana/app]', { variables: new Map([['CI_PROJECT_PATH', 'ben/app']]) }, false],
    ['only: {variables: [$CI_COMMIT_BRANCH == "main"]}', {}, true],
    ['only: {variables: [$A, $B]}', {}, false],
    ['only: {changes: [src/**/*]}', {}, true],
    ['only: {changes: [lib/**/*]}', {}, false],
    ['only: {refs: [main], changes: [lib/*]}', {}, false],
    ['only: {refs: [main], variables: [$CI_COMMIT_BRANCH]}', {}, true],
    ['only: {kubernetes: active}', {}, false],
    ['except: [main]', {}, false],
    ['except: [tags]', {}, true],
    ['except: {variables: [$CI_COMMIT_BRANCH]}', {}, false],
    ['except: {refs: [tags], changes: [src/*]}', {}, false],
    ['only: [branches], except: [/^main$/]', {}, false],
  ])('{%s} under %j: %s', async (policy, more, admitted) => {
    const found = names(`x: {script: y, ${policy}}`, more)
    if (admitted) expect(await found).toEqual(['x'])
    else await expect(found).rejects.toThrow('no_jobs')
  })
})

describe('a job that starts a pipeline', () => {
  test.each(['script: y', 'before_script: [y]', 'image: a', 'artifacts: {paths: [a]}', 'retry: 1'])(
    'has no runner for %s',
    async (more) => {
      const key = more.split(':')[0]
      expect(await faultOf(`x: {trigger: a/b, ${more}}`)).toBe(
        `jobs:x config contains unknown keys: ${key}`,
      )
    },
  )

  test('takes what decides when it runs', async () => {
    const job = await jobOf(`
x:
  stage: deploy
  trigger: {project: a/b, strategy: depend}
  variables: {A: b}
  when: manual
  allow_failure: false
  needs: []
  resource_group: prod
  interruptible: true
`)
    expect(job).toMatchObject({
      kind: 'bridge',
      stage: 'deploy',
      when: 'manual',
      allowFailure: false,
      needs: [],
      resourceGroup: 'prod',
      interruptible: true,
    })
  })
})

describe('inputs', () => {
  const spec = (rule: string, use = '$[[ inputs.a ]]') =>
    `spec: {inputs: {a: ${rule}}}\n---\nx: {script: ['${use}']}`
  const scriptOf = async (text: string, inputs: ValueMap = {}) =>
    (await jobOf(text, {}, inputs)).options.script

  test.each<[string, ValueMap, unknown]>([
    ['{default: b}', {}, ['b']],
    ['{default: b}', { a: 'c' }, ['c']],
    ['{default: ""}', {}, ['']],
    ['{options: [b, c]}', { a: 'b' }, ['b']],
    ['{regex: ^v\\d+$}', { a: 'v12' }, ['v12']],
    ['{type: string}', { a: '12' }, ['12']],
    ['{type: array, default: [b, c]}', {}, ['b', 'c']],
    ['{type: array}', { a: '["d"]' }, ['d']],
  ])('%s with %j give %j', async (rule, inputs, script) => {
    expect(await scriptOf(spec(rule), inputs)).toEqual(script)
  })

  test.each<[string, ValueMap, string]>([
    ['{}', {}, '`ci.yml`: `a` input: required value has not been provided'],
    ['{default: b}', { c: 'd' }, '`ci.yml`: unknown input arguments: c'],
    ['{type: number}', { a: 'b' }, '`ci.yml`: `a` input: provided value is not a number'],
    ['{type: boolean}', { a: 1 }, '`ci.yml`: `a` input: provided value is not a boolean'],
    ['{type: array}', { a: 'b,c' }, '`ci.yml`: `a` input: provided value is not a array'],
    ['{}', { a: 1 }, '`ci.yml`: `a` input: provided value is not a string'],
    ['{type: date}', { a: 'b' }, '`ci.yml`: `a` input: unknown type date'],
    [
      '{options: [b, c]}',
      { a: 'd' },
      '`ci.yml`: `a` input: `d` cannot be used because it is not in the list of allowed options',
    ],
    [
      '{regex: ^v\\d+$}',
      { a: 'x' },
      '`ci.yml`: `a` input: provided value does not match required RegEx pattern',
    ],
  ])('%s with %j are refused: %s', async (rule, inputs, fault) => {
    expect(await faultOf(spec(rule), inputs)).toBe(fault)
  })

  test('that come as texts, from a form or with a push, have the type that is declared', async () => {
    const text = `
spec: {inputs: {count: {type: number}, flag: {type: boolean}, name: {}}}
---
x:
  script: y
  parallel: $[[ inputs.count ]]
  interruptible: $[[ inputs.flag ]]
  image: $[[ inputs.name ]]`
    const { jobs } = await plan(text, {}, { count: '2', flag: 'true', name: '1.10' })
    expect(jobs).toHaveLength(2)
    expect(jobs[0]).toMatchObject({ interruptible: true, options: { image: '1.10' } })
  })

  test.each([
    ['v-$[[ inputs.a ]]-$[[inputs.a]]', 'v-abcdef-abcdef'],
    ['$[[ inputs.a | truncate(1,3) ]]', 'bcd'],
    ['$[[ inputs.a|truncate( 4 , 9 )|expand_vars ]]', 'ef'],
    ['$[[ inputs.a | expand_vars | truncate(0,4) | truncate(2,2) ]]', 'cd'],
    ['$[[ other.a ]]', '$[[ other.a ]]'],
  ])('stand in texts as %s', async (use, script) => {
    expect(await scriptOf(spec('{default: abcdef}', use))).toEqual([script])
  })

  test.each([
    ['$[[ inputs.b ]]', '`ci.yml`: unknown interpolation key: `b`'],
    ['$[[ inputs.a | upper ]]', '`ci.yml`: no function matching `upper`'],
    [
      `$[[ inputs.a ${'| expand_vars '.repeat(4)}]]`,
      '`ci.yml`: too many functions in interpolation block',
    ],
  ])('may not be %s', async (use, fault) => {
    expect(await faultOf(spec('{default: b}', use))).toBe(fault)
  })

  test('are put into names of jobs and keys too', async () => {
    const text = `
spec: {inputs: {a: {default: b}}}
---
"job-$[[ inputs.a ]]": {script: y, variables: {"X_$[[ inputs.a ]]": c}}`
    const job = await jobOf(text)
    expect([job.name, valuesOf(job)]).toEqual(['job-b', { X_b: 'c' }])
  })
})

describe('a condition', () => {
  const variables = new Map([
    ['A', 'one/two'],
    ['EMPTY', ''],
    ['PATTERN', '/^ONE/i'],
    ['TEXT', 'one\ntwo'],
  ])
  test.each([
    ['$GONE || $A && $EMPTY', false],
    ['$A || $GONE && $EMPTY', true],
    ['($A || $GONE) && $EMPTY', false],
    ['!$GONE && !$EMPTY', true],
    ['!($A && $GONE)', true],
    ['!!$A', true],
    ['$A == "one/two" && $EMPTY == ""', true],
    ['$GONE == ""', false],
    ['$GONE != ""', true],
    ['$EMPTY != null', true],
    ['null == $GONE', true],
    ['$GONE == $OTHER', true],
    ['"" ', false],
    ['"a"', true],
    ['\'it\' == "it"', true],
    [`$A =~ /two$/`, true],
    [`$\{A} =~ /two$/`, undefined],
    ['$A =~ /one\\/two/', true],
    ['$A =~ /ONE/', false],
    ['$A =~ /ONE/i', true],
    ['$A =~ $PATTERN', true],
    ['$A !~ $PATTERN', false],
    ['$A =~ $EMPTY', false],
    ['$A =~ "one"', false],
    ['$A =~ "/one/"', true],
    ['$TEXT =~ /^two$/', false],
    ['$TEXT =~ /^two$/m', true],
    ['$TEXT =~ /one.two/', false],
    ['$TEXT =~ /one.two/s', true],
    ['$GONE =~ /.*/', false],
    ['$GONE !~ /.*/', true],
    ['$A =~ /(/', false],
    ['$A =~ /(?!x)one/', false],
    ['$A\n  ==\n  "one/two"', true],
    ['$A=="one/two"&&$A', true],
  ])('%j is %s', async (text, holds) => {
    expect(await parseExpression(text)?.({ variables, patterns: new PatternBudget() })).toBe(holds)
  })

  test.each([
    '$',
    '$A = "a"',
    '$A & $B',
    '$A == ==',
    '()',
    '$A == /a',
    'true',
    '1 == 1',
    '$A)',
    '"a',
    '${A',
  ])('%j is none', (text) => {
    expect(parseExpression(text)).toBeUndefined()
  })

  test('that is nested for ever or very long is none', async () => {
    const nested = (depth: number) => `${'('.repeat(depth)}$A${')'.repeat(depth)}`
    const at = { variables, patterns: new PatternBudget() }
    expect(await parseExpression(nested(50))?.(at)).toBe(true)
    expect(parseExpression(nested(500))).toBeUndefined()
    expect(parseExpression(`$A == "${'a'.repeat(10_000)}"`)).toBeUndefined()
  })
})

test.each([
  ['*', '.hidden', true],
  ['**/*', 'a/b/.c', true],
  ['a/**/b', 'a/b', true],
  ['a/**/b', 'a/x/y/b', true],
  ['a?c', 'a/c', false],
  ['*.{yml,yaml}', 'x.yaml', true],
  ['{a,b/{c,d}}', 'b/d', true],
  ['[a-c]x', 'bx', true],
  ['[^a-c]x', 'bx', false],
  ['a[', 'a[', true],
  ['a+b(c)', 'a+b(c)', true],
  ['ä*', 'äö', true],
  ['A', 'a', false],
])('the pattern %s and the path %s: %s', (pattern, path, fits) => {
  expect(patternMatcher(globPattern(pattern))(path)).toBe(fits)
})

test.each([
  ['45', 45],
  ['1 hr 20 min', 4800],
  ['2h20min', 8400],
  ['3 weeks and 2 days', 1_987_200],
  ['6 mos 1 day', 15_638_400],
  ['1 yr', 31_557_600],
  ['1.5 hours', 5400],
  ['3 MINUTES, 4 sec', 184],
  ['0', undefined],
  ['0 minutes', undefined],
  ['-5', undefined],
  ['five minutes', undefined],
  ['1h30', undefined],
  [90, 90],
  [0, undefined],
  [null, undefined],
  [['1h'], undefined],
])('%j is %s seconds', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds)
})

describe('the next run of', () => {
  test.each([
    // Clocks go forward on 29 March and back on 25 October 2026.
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00.000Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-30T00:30:00.000Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00.000Z'],
    ['0 12 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', '2026-10-25T11:00:00.000Z'],
    ['0 4 * * *', 'Asia/Kolkata', '2026-05-04T10:00:00Z', '2026-05-04T22:30:00.000Z'],
    ['*/15 * * * *', 'UTC', '2026-05-04T10:00:00Z', '2026-05-04T10:15:00.000Z'],
    ['0 0 1,15 * *', 'UTC', '2026-05-04T10:00:00Z', '2026-05-15T00:00:00.000Z'],
    ['0 9 * * MON-FRI', 'UTC', '2026-05-08T10:00:00Z', '2026-05-11T09:00:00.000Z'],
    ['0 9 * * 0', 'UTC', '2026-05-04T10:00:00Z', '2026-05-10T09:00:00.000Z'],
    ['0 9 * * 7', 'UTC', '2026-05-04T10:00:00Z', '2026-05-10T09:00:00.000Z'],
    ['0 9 13 * 5', 'UTC', '2026-05-04T10:00:00Z', '2026-05-08T09:00:00.000Z'],
    ['0 0 29 2 *', 'UTC', '2026-05-04T10:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0 0 29 2 +MON', 'UTC', '2072-03-01T00:00:00Z', '2112-02-29T00:00:00.000Z'],
    ['0 0 1 JAN *', 'UTC', '2026-05-04T10:00:00Z', '2027-01-01T00:00:00.000Z'],
    ['59 23 31 12 *', 'Pacific/Kiritimati', '2026-12-31T09:58:30Z', '2026-12-31T09:59:00.000Z'],
    ['0 0 1 1 *', 'Pacific/Kiritimati', '2026-12-31T09:58:30Z', '2026-12-31T10:00:00.000Z'],
    ['0 0 31 12 *', 'America/New_York', '2027-01-01T01:00:00Z', '2027-12-31T05:00:00.000Z'],
    [' 0  9 * * 0 ', 'UTC', '2026-05-04T10:00:00Z', '2026-05-10T09:00:00.000Z'],
  ])('%s in %s after %s is %s', (cron, timezone, after, next) => {
    expect(nextRun(cron, timezone, after)).toBe(next)
  })

  test('what never comes is known after about the time that a rare day takes', () => {
    const from = '2026-05-04T10:00:00Z'
    const quickest = (cron: string) =>
      Math.min(
        ...Array.from({ length: 15 }, () => {
          const begin = performance.now()
          nextRun(cron, 'UTC', from)
          return performance.now() - begin
        }),
      )
    expect(nextRun('0 0 31 2 +MON', 'UTC', from)).toBeUndefined()
    expect(nextRun('0 0 30 2 *', 'UTC', from)).toBeUndefined()
    expect(quickest('0 0 31 2 +MON')).toBeLessThan(30 * quickest('0 0 29 2 +MON'))
  })
})

describe('the status of a pipeline', () => {
  const parts = (words: string): StatusPart[] =>
    words.split(' ').map((part) => ({
      status: part.replace('?', '') as StatusPart['status'],
      allow_failure: part.endsWith('?') ? 1 : 0,
    }))
  test.each([
    ['skipped skipped', 'skipped'],
    ['success skipped', 'success'],
    ['success failed?', 'success'],
    ['success canceled?', 'success'],
    ['failed? failed?', 'success'],
    ['success failed', 'failed'],
    ['failed skipped', 'failed'],
    ['failed canceled', 'failed'],
    ['success canceled', 'canceled'],
    ['created created', 'created'],
    ['pending created', 'pending'],
    ['success pending', 'running'],
    ['success created', 'running'],
    ['failed running', 'running'],
    ['success manual', 'manual'],
    ['success manual?', 'success'],
    ['manual? manual?', 'skipped'],
    ['failed manual', 'manual'],
    ['success scheduled', 'scheduled'],
    ['success waiting_for_resource manual', 'waiting_for_resource'],
    ['running canceling', 'canceling'],
  ])('of %s is %s', (words, status) => {
    expect(compositeStatus(parts(words))).toBe(status)
  })
})
