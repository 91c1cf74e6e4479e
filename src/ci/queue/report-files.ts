import { isMap, type Value } from '../config/values.ts'

/** A report that a runner sends beside the archive. */
export interface ReportFile {
  readonly type: string
  readonly name: string
  readonly format: 'gzip' | 'raw'
  readonly paths: readonly string[]
}

/** The names under which stock clients look for reports; all others are called by their type. */
const NAMES: Readonly<Record<string, string>> = {
  junit: 'junit.xml',
  dotenv: '.env',
  cobertura: 'cobertura-coverage.xml',
  jacoco: 'jacoco-coverage.xml',
  codequality: 'gl-code-quality-report.json',
  metrics: 'metrics.txt',
  terraform: 'tfplan.json',
  sast: 'gl-sast-report.json',
  secret_detection: 'gl-secret-detection-report.json',
  dependency_scanning: 'gl-dependency-scanning-report.json',
  container_scanning: 'gl-container-scanning-report.json',
  dast: 'gl-dast-report.json',
  license_scanning: 'gl-license-scanning-report.json',
  accessibility: 'gl-accessibility.json',
  load_performance: 'load-performance.json',
  browser_performance: 'browser-performance.json',
  requirements: 'requirements.json',
  annotations: 'gl-annotations.json',
  cyclonedx: 'gl-sbom.cdx.json',
}

const RAW: readonly string[] = ['terraform', 'sast', 'secret_detection', 'dependency_scanning']

/** The reports of `artifacts:reports`. */
export function reportFiles(value: Value): ReportFile[] {
  if (!isMap(value)) return []
  return Object.entries(value).flatMap(([key, given]) => {
    const type = key === 'coverage_report' && isMap(given) ? String(given.coverage_format) : key
    const found: Value = key === 'coverage_report' && isMap(given) ? given.path : given
    const list: readonly unknown[] = Array.isArray(found) ? found.flat(10) : [found]
    const paths = list.filter((path): path is string => typeof path === 'string')
    if (paths.length === 0) return []
    const format = RAW.includes(type) ? ('raw' as const) : ('gzip' as const)
    return [{ type, name: NAMES[type] ?? type, format, paths }]
  })
}
