import { State } from './basics.tsx'

const kinds: Readonly<Record<string, Parameters<typeof State>[0]['kind']>> = {
  success: 'open',
  failed: 'removed',
  canceled: 'plain',
  skipped: 'plain',
}

/** How a pipeline stands. */
export function PipelineState({ status }: { status: string }) {
  const kind = kinds[status] ?? 'waiting'
  const icon = kind === 'open' ? 'check-circle' : kind === 'removed' ? 'x-circle' : 'clock'
  return (
    <State kind={kind} icon={icon}>
      {status.replaceAll('_', ' ')}
    </State>
  )
}
