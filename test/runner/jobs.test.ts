import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Job } from '../../src/runner/job.ts'
import { type Answer, type Call, type FakeRunner, jobOf, openFakeRunner } from './fake-server.ts'

let runner: FakeRunner

beforeAll(async () => {
  runner = await openFakeRunner()
})
beforeEach(() => {
  const { server } = runner
  server.answer = () => undefined
  server.calls.length = 0
  server.ends.length = 0
})
afterAll(() => runner.close())

/** Runs a job; gives how it ended and what it said. */
async function ranTo(job: Job) {
  await runner.run([job])
  const [end = {}] = runner.server.ends.filter(({ token }) => token === job.token)
  const { state, failure_reason: reason, exit_code: code } = end
  return { end, log: runner.server.log(job.id), how: [state, reason, code] }
}

/** What a script printed, without the lines that show it and the sections around it. */
function printed(log: string): string[] {
  return log.split('\n').filter((line) => /^> /.test(line))
}

const say = (text: string) => `printf '> %s\\n' ${text}`

describe('a job', () => {
  test.each<[string, string[], unknown[]]>([
    ['goes well', ['true'], ['success', undefined, undefined]],
    ['ends by itself', ['exit 0', 'false'], ['success', undefined, undefined]],
    ['fails with its code', ['exit 7'], ['failed', 'script_failure', 7]],
    ['stops at the first fault', ['(exit 3)', 'exit 4'], ['failed', 'script_failure', 3]],
    ['fails in a pipe', ['false | cat'], ['failed', 'script_failure', 1]],
    ['is killed', ['kill -9 $$'], ['failed', 'script_failure', 137]],
    ['names no program', ['no-such-program-at-all'], ['failed', 'script_failure', 127]],
    ['is no script', ['if then'], ['failed', 'script_failure', 2]],
    ['may fail within', ['false || true'], ['success', undefined, undefined]],
  ])('that %s is reported so', async (_, script, how) => {
    expect((await ranTo(jobOf(script))).how).toEqual(how)
  })

  test('reports the checksum and the length of what it sent', async () => {
    const job = jobOf(['seq 1 20000', 'echo ä'])
    const { end, log } = await ranTo(job)
    const bytes = Buffer.from(log)
    const checksum = `crc32:${crc32(bytes).toString(16).padStart(8, '0')}`
    expect(end).toMatchObject({ checksum, output: { checksum, bytesize: bytes.length } })
    expect(log).toContain('\n19999\n20000\n')
  })

  test('shows its lines, in sections that begin and end in their order', async () => {
    const job = jobOf(['echo one', 'echo two \\\n  three'], { after: ['echo last'] })
    const { log } = await ranTo(job)
    const sections = [...log.matchAll(/section_(start|end):\d+:(\w+)\r.\[0K/g)].map(
      ([, kind, name]) => `${kind} ${name}`,
    )
    expect(sections).toEqual([
      'start prepare_executor',
      'end prepare_executor',
      'start get_sources',
      'end get_sources',
      'start step_script',
      'end step_script',
      'start after_script',
      'end after_script',
    ])
    expect(log).toContain('$ echo one\u001b[0;m\none\n')
    expect(log).toContain('$ echo two \\ # collapsed multi-line command')
    expect(log.trimEnd().endsWith('Job succeeded')).toBe(true)
  })

  test('runs its steps in order, and those that always run after a failure', async () => {
    const steps = [
      { name: 'script', script: [say('script'), 'exit 5'], when: 'on_success' },
      { name: 'release', script: [say('release')], when: 'on_success' },
      { name: 'cleanup', script: [say('cleanup')], when: 'always' },
    ]
    const { log, how } = await ranTo(jobOf([], { steps }))
    expect(printed(log)).toEqual(['> script', '> cleanup'])
    expect(how).toEqual(['failed', 'script_failure', 5])
  })

  test('knows where it is, who runs it, and nothing of the runner itself', async () => {
    process.env.GITSTEAD_RUNNER_TOKEN = 'of the operator'
    const keys = [
      'CI_PROJECT_DIR',
      'CI_BUILDS_DIR',
      'CI_RUNNER_VERSION',
      'CI_RUNNER_REVISION',
      'CI_SHARED_ENVIRONMENT',
    ]
    const lines = keys.map((key) => say(`"$${key}"`))
    const job = jobOf([...lines, say('"$PWD"'), 'env | grep -i -c "of the operator" || true'])
    const { log } = await ranTo(job)
    delete process.env.GITSTEAD_RUNNER_TOKEN
    const [project, builds, version, revision, isShared, here] = printed(log)
    expect(project).toBe(here)
    expect(project).toContain(builds?.slice(2))
    expect([version, revision, isShared]).toEqual(['> 1.2.3', '> 1.2.3', '> true'])
    expect(log).toContain('\n0\n')
    expect(log).not.toContain('token-of-runner')
  })
})

describe('after_script', () => {
  test.each([
    ['success', ['true'], ['success', undefined, undefined]],
    ['failed', ['exit 9'], ['failed', 'script_failure', 9]],
  ])('sees the status %s in a shell of its own', async (status, script, how) => {
    const job = jobOf(['export LEFT=behind', ...script], {
      after: [say('"$CI_JOB_STATUS [$LEFT]"')],
      // What a server may say of it does not count.
      variables: { CI_JOB_STATUS: 'running' },
    })
    const ran = await ranTo(job)
    expect(printed(ran.log)).toEqual([`> ${status} []`])
    expect(ran.how).toEqual(how)
  })

  test('changes nothing about the result when it fails', async () => {
    const { log, how } = await ranTo(jobOf(['true'], { after: ['exit 1', say('never')] }))
    expect(how[0]).toBe('success')
    expect(log).toContain('WARNING: after_script failed')
    expect(printed(log)).toEqual([])
  })
})

describe('the variables of a job', () => {
  test('stand for each other, as files, raw, and the last of each name', async () => {
    const job = jobOf(
      [
        say('"$OUTER|$RAW|$EMPTY|$LAST|$CYCLE"'),
        say('"$(cat $FILE)|$(basename $FILE)"'),
        say('"$QUOTED"'),
        say('"$LINES" | wc -l'),
      ],
      {
        variables: {
          INNER: 'in',
          OUTER: ['$INNER', '{INNER}', '$INNER', 'NONE', ''].join('-$'),
          RAW: { value: '$INNER', raw: true },
          EMPTY: '',
          LAST: 'first',
          CYCLE: '$CYCLE',
          FILE: { value: 'content of $INNER', file: true },
          QUOTED: `it's "so" \`so\` $(so) \\`,
          LINES: 'a\nb\nc',
        },
      },
    )
    const { log } = await ranTo({
      ...job,
      variables: [...job.variables, { key: 'LAST', value: 'last' }],
    })
    const [first, second, third] = printed(log)
    expect(first).toMatch(/^> in-in-\$INNER--\$\|\$INNER\|\|last\|/)
    expect(second).toBe('> content of in|FILE')
    expect(third).toBe(`> it's "so" \`so\` $(so) \\`)
    expect(log).toContain('\n3\n')
  })

  test('that are masked never show: whole, in pieces, in lines, and in errors', async () => {
    const secret = 'hunter2-hunter2'
    const job = jobOf(
      [
        'echo "one $SECRET two"',
        'printf hunter2-; sleep 0.05; printf "hunter2\\n"',
        'echo "$MANY"',
        'echo "$CI_JOB_TOKEN"',
        'cd "/$SECRET"',
      ],
      {
        variables: {
          SECRET: { value: secret, masked: true },
          MANY: { value: 'first-line\nsecond-line', masked: true },
          // Too short to be looked for: it would blank out half of the log.
          SHORT: { value: 'ne', masked: true },
        },
      },
    )
    const { log, how } = await ranTo({
      ...job,
      variables: [...job.variables, { key: 'CI_JOB_TOKEN', value: job.token, masked: true }],
    })
    for (const hidden of [secret, 'first-line', 'second-line', job.token]) {
      expect(log).not.toContain(hidden)
    }
    expect(log).toContain('one [MASKED] two')
    expect(how).toEqual(['failed', 'script_failure', 1])
  })

  test('are hidden also where they are tokens of somebody else', async () => {
    const job = jobOf(['echo "svcpat-of-a-person, svcpat"'], {
      features: { token_mask_prefixes: ['svcpat-'] },
    })
    const { log } = await ranTo(job)
    expect(log).toContain('\nsvcpat-[MASKED], svcpat\n')
    expect(log).not.toContain('of-a-person')
  })

  test('that show everything are announced to the server with each piece of the log', async () => {
    const flags = () =>
      new Set(
        runner.server.calls
          .filter(({ method }) => method === 'PATCH')
          .map(({ query }) => query.get('debug_trace')),
      )
    const { log } = await ranTo(jobOf(['true'], { variables: { CI_DEBUG_TRACE: 'true' } }))
    expect(log).toContain('+ true')
    expect(flags()).toEqual(new Set(['true']))
    runner.server.calls.length = 0
    await ranTo(jobOf(['true']))
    expect(flags()).toEqual(new Set(['false']))
  })
})

describe('a job that is stopped', () => {
  /** Answers the calls for a job with a status of it once its log holds a text. */
  const once = (job: Job, text: string, answer: Answer) => {
    runner.server.answer = ({ path, method }: Call) => {
      const isOf = path.startsWith(`/jobs/${job.id}`) && method !== 'GET'
      return isOf && runner.server.log(job.id).includes(text) ? answer : undefined
    }
  }

  test('by its time ends with that reason, and after_script has time of its own', async () => {
    const job = jobOf([say('begun'), 'sleep 60'], {
      after: [say('"$CI_JOB_STATUS"')],
      runner_info: { timeout: 1 },
    })
    const { log, how } = await ranTo(job)
    expect(how).toEqual(['failed', 'job_execution_timeout', undefined])
    expect(printed(log)).toEqual(['> begun', '> failed'])
    expect(log).toContain('ERROR: the time of the job is over')
  })

  test('by a cancel still runs after_script, and says so there', async () => {
    const job = jobOf([say('begun'), 'sleep 60'], { after: [say('"$CI_JOB_STATUS"')] })
    let canceled = false
    runner.server.answer = ({ path, method }) => {
      if (canceled || method !== 'PUT' || !path.startsWith(`/jobs/${job.id}`)) return undefined
      if (!runner.server.log(job.id).includes('> begun')) return undefined
      canceled = true
      return { status: 200, headers: { 'Job-Status': 'canceling' } }
    }
    const { log, how } = await ranTo(job)
    expect(printed(log)).toEqual(['> begun', '> canceled'])
    expect(how[0]).toBe('failed')
  })

  test.each([
    ['canceled', { status: 200, headers: { 'Job-Status': 'canceled' } }],
    ['failed', { status: 200, headers: { 'Job-Status': 'failed' } }],
    ['of no runner any more', { status: 403 }],
  ])('because it is %s on the server ends at once, without after_script', async (_, answer) => {
    const job = jobOf([say('begun'), 'sleep 60'], {
      after: [say('never')],
      artifacts: [
        { paths: ['*'], when: 'always', artifact_type: 'archive', artifact_format: 'zip' },
      ],
    })
    once(job, '> begun', answer)
    const { log } = await ranTo(job)
    expect(printed(log)).toEqual(['> begun'])
    expect(runner.server.files).toEqual([])
  })

  test('leaves none of its processes behind', async () => {
    const mark = `8${Math.floor(Math.random() * 1e6)}`
    const job = jobOf([`sleep ${mark} & setsid sleep ${mark} & ${say('begun')}`, 'wait'], {
      runner_info: { timeout: 1 },
    })
    await ranTo(job)
    const { log } = await ranTo(jobOf([`pgrep -f "sleep ${mark}$" || ${say('none')}`]))
    expect(printed(log)).toContain('> none')
  })
})

describe('several jobs', () => {
  test('at one time have folders of their own', async () => {
    const jobs = [0, 1].map(() =>
      jobOf([say('"$PWD $CI_CONCURRENT_ID"'), 'touch own', 'sleep 0.5']),
    )
    await runner.run(jobs, { concurrent: 2 })
    const said = jobs.map((job) => printed(runner.server.log(job.id))[0])
    expect(new Set(said).size).toBe(2)
    expect(said.map((line) => line?.at(-1)).sort()).toEqual(['0', '1'])
    expect(runner.server.ends.map(({ state }) => state)).toEqual(['success', 'success'])
  })

  test('one after the other find the folder as it was left, and nothing of the variables', async () => {
    await runner.run([
      jobOf(['touch left', 'echo "$FILE" > path'], {
        variables: { FILE: { value: 'secret', file: true } },
      }),
    ])
    const next = jobOf([say('"$(ls)"'), 'test ! -e "$(cat path)"', 'rm left path'])
    const { log, how } = await ranTo(next)
    expect(log).toContain('left')
    expect(how[0]).toBe('success')
  })
})

test('a runner whose token the server does not know ends and says so', async () => {
  runner.server.answer = ({ path }) => (path === '/runners/verify' ? { status: 403 } : undefined)
  await expect(runner.run([jobOf(['true'])])).rejects.toThrow('does not know this token')
  runner.server.waiting.length = 0
})
