/** A Jest reporter that tells jest.mjs, which started this Jest, what is being run and what has come of it. */
module.exports = class Teller {
  onRunStart({ numTotalTestSuites }) {
    process.send({ event: 'run started', files: numTotalTestSuites });
  }

  onTestFileStart({ path }) {
    process.send({ event: 'file started', path });
  }

  onTestFileResult({ path }, { perfStats, testResults, testExecError, failureMessage, console, ...result }) {
    process.send({
      event: 'file done',
      path,
      ms: perfStats.runtime,
      passed: result.numPassingTests,
      // A file that does not even run has no failed test: it counts as one.
      failed: result.numFailingTests + (testExecError ? 1 : 0),
      failures: testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
      text: failureMessage ?? '',
      printed: console?.map(({ message }) => message).join('\n'),
    });
  }

  onRunComplete() {
    process.send({ event: 'run done' });
  }
};
