// What must be true of the checkout before a release is made from it, and what the CHANGELOG says of the release.

export interface Checkout {
  version: string;
  /** `git status --porcelain`. */
  status: string;
  /** Tags of the commit. */
  tags: readonly string[];
  /** `version` and `appVersion` of the chart. */
  chart: { version: string; appVersion: string };
  changelog: string;
  /** The page of the repository according to package.json, and where the workflow runs. */
  repository: { url: string; workflow?: string | undefined };
}

/** The section of the CHANGELOG with this heading, such as `Unreleased` or `0.1.0`, without the heading. */
export const sectionOf = (changelog: string, heading: string): string | undefined => {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((each) => each.startsWith(`[${heading}]`));
  return section?.slice(section.indexOf('\n')).trim();
};

/** Each problem with its remedy; none if a release may be made. */
export const problemsOf = ({ version, status, tags, chart, changelog, repository }: Checkout): string[] => {
  const tag = `v${version}`;
  const problems: string[] = [];
  const changed = status.split('\n').filter(Boolean);
  if (changed.length > 0)
    problems.push(`the checkout has ${changed.length} changed or new files (${changed[0]?.slice(3)}): commit them`);
  const versions = tags.filter((each) => /^v\d/.test(each));
  if (!tags.includes(tag))
    problems.push(
      versions.length > 0
        ? `the commit has the tag ${versions.join(', ')}, and package.json has the version ${version}: make them equal`
        : `the commit has no tag: run "git tag ${tag}"`,
    );
  for (const [field, value] of Object.entries(chart))
    if (value !== version)
      problems.push(`charts/edgeset/Chart.yaml has ${field} ${value}, and package.json ${version}: make them equal`);
  const section = sectionOf(changelog, version);
  if (section === undefined)
    problems.push(
      `CHANGELOG.md has no section "## [${version}]": give what is under [Unreleased] that heading and a date`,
    );
  else if (section === '') problems.push(`CHANGELOG.md says nothing under [${version}]: write what users notice`);
  if (repository.workflow !== undefined && !repository.url.endsWith(`/${repository.workflow}`))
    problems.push(
      `package.json names the repository ${repository.url}, and this is ${repository.workflow}: npm refuses its provenance, and krew its links`,
    );
  return problems;
};

/**
 * The text of the release; that of what is not released yet, in a dry run before the CHANGELOG has the version. `images`: their
 * names with digests.
 */
export const notesOf = (
  { changelog, version, repository }: Pick<Checkout, 'changelog' | 'version' | 'repository'>,
  images: readonly string[],
): string =>
  [
    sectionOf(changelog, version) ?? sectionOf(changelog, 'Unreleased') ?? '',
    '### Images',
    `\`\`\`\n${images.join('\n')}\n\`\`\``,
    `Signed by the workflow that pushed them: [how to verify](${repository.url}/blob/v${version}/docs/how-to/build-images.md#verify-a-published-image).\n`,
  ].join('\n\n');
