import type { Executor, JobPlace, PlaceInput } from './executor.ts'
import { JobFailure, type JobImage } from './job.ts'
import { runProcess } from './processes.ts'
import { machineEnvironment } from './shell-executor.ts'

const CLEAN_MS = 60_000
/** Of what the program says, in pieces of a pipe. */
const MOST_PIECES = 64
/** What is removed has had its time: podman would wait ten seconds more for it. */
const AT_ONCE = ['--stop-timeout', '0']

/** Runs scripts in containers by podman or docker: an image of the job's own, with its services beside it. */
export function containerExecutor(program: string, defaultImage: string | undefined): Executor {
  return {
    name: 'container',
    open: (given) => openContainers(program, defaultImage, given),
  }
}

async function openContainers(
  program: string,
  defaultImage: string | undefined,
  given: PlaceInput,
): Promise<JobPlace> {
  const { job, workspace, expand } = given
  const image = expand(job.image?.name ?? defaultImage ?? '')
  if (image === '') throw new JobFailure('runner_system_failure', 'the job names no image')
  const name = `gitstead-job-${job.id}-${job.job_info.project_id}`
  const tool = async (args: readonly string[], signal = given.signal) => {
    const said: Buffer[] = []
    const { code } = await runProcess({
      program,
      args,
      cwd: workspace.builds,
      env: machineEnvironment(),
      mark: `${given.mark}-tool`,
      limits: { memory: 0, processes: 0 },
      signal,
      output: (piece) => {
        if (said.length < MOST_PIECES) said.push(piece)
      },
      drained: async () => undefined,
    })
    return { code, said }
  }
  const must = async (args: readonly string[], reason: JobFailure['reason']) => {
    const { code, said } = await tool(args)
    if (code === 0) return
    // What goes well says only names that nobody asked for.
    for (const piece of said) given.output(piece)
    throw new JobFailure(reason, `${program} ${args[0]} failed`)
  }
  const remove = async () => {
    const signal = AbortSignal.timeout(CLEAN_MS)
    await tool(['rm', '--force', '--volumes', ...namesOf(name, given)], signal)
    await tool(['network', 'rm', '--force', name], signal)
  }
  await remove()
  try {
    await must(['network', 'create', name], 'runner_system_failure')
    await pull(image, job.image, must, given)
    for (const [index, service] of (job.services ?? []).entries()) {
      const own = expand(service.name)
      await pull(own, service, must, given)
      given.say(`Starting service ${own}...`)
      const aliases = [...(service.alias ? service.alias.split(/[\s,]+/) : []), aliasOf(own)]
      const variables = (service.variables ?? []).flatMap((one) => [
        '--env',
        `${one.key}=${expand(one.value)}`,
      ])
      await must(
        [
          'run',
          '--detach',
          ...AT_ONCE,
          '--name',
          `${name}-service-${index}`,
          '--network',
          name,
          ...aliases.flatMap((alias) => ['--network-alias', alias]),
          ...variables,
          ...entrypointOf(service),
          own,
          ...(service.command ?? []),
        ],
        'runner_system_failure',
      )
    }
  } catch (error) {
    // Nobody closes what was never opened.
    await remove()
    throw error
  }
  let count = 0
  return {
    async run({ script, env, signal, output, drained }) {
      count += 1
      const own = `${name}-${count}`
      const { memory, processes } = given.limits
      const ended = await runProcess({
        program,
        args: [
          'run',
          '--rm',
          '--interactive',
          '--init',
          ...AT_ONCE,
          '--name',
          own,
          '--network',
          name,
          ...(memory > 0 ? ['--memory', String(memory)] : []),
          ...(processes > 0 ? ['--pids-limit', String(processes)] : []),
          '--volume',
          `${workspace.builds}:${workspace.builds}`,
          '--workdir',
          workspace.project,
          ...Object.keys(env).flatMap((key) => ['--env', key]),
          ...entrypointOf(job.image ?? { name: image }),
          image,
          'sh',
          '-c',
          'if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi',
        ],
        cwd: workspace.builds,
        // Values pass through the environment, so that no list of processes shows them.
        env: { ...machineEnvironment(), ...env, PATH: process.env.PATH ?? '' },
        mark: given.mark,
        limits: { memory: 0, processes: 0 },
        signal,
        output,
        drained,
        input: script,
      })
      await tool(['rm', '--force', own], AbortSignal.timeout(CLEAN_MS))
      return ended
    },
    close: remove,
  }
}

function namesOf(name: string, { job }: PlaceInput): string[] {
  const services = (job.services ?? []).map((_, index) => `${name}-service-${index}`)
  return [...services, ...[1, 2, 3, 4].map((count) => `${name}-${count}`)]
}

type Must = (args: readonly string[], reason: JobFailure['reason']) => Promise<void>

async function pull(
  name: string,
  image: JobImage | null | undefined,
  must: Must,
  { say }: PlaceInput,
): Promise<void> {
  const policy = image?.pull_policy?.[0]
  if (policy === 'never' || policy === 'if-not-present') return
  say(`Pulling image ${name}...`)
  await must(['pull', '--quiet', name], 'image_pull_failure')
}

function entrypointOf(image: JobImage): string[] {
  const [first] = image.entrypoint ?? []
  return first === undefined ? [] : ['--entrypoint', first]
}

/** `registry.example/a/postgres:15` is reached as `registry.example-a-postgres`. */
function aliasOf(image: string): string {
  return image.replace(/[:@][^/]*$/, '').replaceAll('/', '-')
}
