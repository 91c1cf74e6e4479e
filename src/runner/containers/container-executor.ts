import type { Executor, JobPlace, PlaceInput, ScriptRun } from '../executor.ts'
import { JobFailure } from '../job.ts'
import { type Ended, runProcess } from '../processes/run-process.ts'
import { quoted } from '../script.ts'
import {
  type ContainerTool,
  containerTool,
  limitArguments,
  longVariables,
  toolEnvironment,
  variableArguments,
} from './container-tool.ts'
import { AT_ONCE, entrypointOf, imageOf, pull, startServices } from './services.ts'

const CLEAN_MS = 60_000

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
  const { job, expand } = given
  const named = job.image?.name ?? defaultImage ?? ''
  if (named === '') throw new JobFailure('runner_system_failure', 'the job names no image')
  const image = imageOf(expand(named))
  const name = `gitstead-job-${job.id}-${job.job_info.project_id}`
  const tool = containerTool(program, given)
  const remove = async () => {
    const signal = AbortSignal.timeout(CLEAN_MS)
    await tool.run(['rm', '--force', '--volumes', ...namesOf(name, given)], signal)
    await tool.run(['network', 'rm', '--force', name], signal)
  }
  await remove()
  try {
    await tool.must(['network', 'create', name], 'runner_system_failure')
    await pull(tool, image, job.image, given)
    const hosts = await startServices(tool, name, given)
    let count = 0
    return {
      async run(script) {
        count += 1
        const container = { name: `${name}-${count}`, network: name, image, hosts }
        return await runScript(program, tool, container, { given, script })
      },
      close: remove,
    }
  } catch (error) {
    // Nobody closes what was never opened.
    await remove()
    throw error
  }
}

interface ScriptContainer {
  readonly name: string
  readonly network: string
  readonly image: string
  /** Arguments that name the services. */
  readonly hosts: readonly string[]
}

async function runScript(
  program: string,
  tool: ContainerTool,
  { name, network, image, hosts }: ScriptContainer,
  { given, script }: { readonly given: PlaceInput; readonly script: ScriptRun },
): Promise<Ended> {
  const { job, workspace, limits } = given
  const { env, signal, output, drained } = script
  // The checkouts of other projects beside this one are not the job's business.
  const folders = [workspace.project, workspace.variables]
  const ended = await runProcess({
    program,
    args: [
      ...['run', '--rm', '--interactive', '--init', ...AT_ONCE],
      ...['--name', name, '--network', network, ...hosts],
      ...limitArguments(limits),
      ...folders.flatMap((folder) => ['--volume', `${folder}:${folder}`]),
      ...['--workdir', workspace.project],
      ...(await variableArguments(given, name, env)),
      ...entrypointOf(job.image ?? { name: image }),
      ...[image, 'sh', '-c'],
      'if command -v bash >/dev/null 2>&1; then exec bash; else exec sh; fi',
    ],
    cwd: workspace.builds,
    // Variables of the job are not among them: they could make the program do anything outside of the container.
    env: toolEnvironment(),
    processes: undefined,
    limits: { memory: 0, processes: 0 },
    signal,
    output,
    drained,
    input: `${exportsOf(env)}${script.script}`,
  })
  await tool.run(['rm', '--force', name], AbortSignal.timeout(CLEAN_MS))
  return ended
}

/** Lines of a script that set what cannot stand in a file of variables. */
function exportsOf(env: Readonly<Record<string, string>>): string {
  return longVariables(env)
    .map(([key, value]) => `export ${key}=${quoted(value)}\n`)
    .join('')
}

function namesOf(name: string, { job }: PlaceInput): string[] {
  const services = (job.services ?? []).map((_, index) => `${name}-service-${index}`)
  return [...services, ...[1, 2, 3, 4].map((count) => `${name}-${count}`)]
}
