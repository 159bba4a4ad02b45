/** A Jest reporter that leaves the counts of a run in the file that APS_TEST_SUMMARY names. */
const { writeFileSync } = require('node:fs');

module.exports = class Summary {
  onRunComplete(_, results) {
    writeFileSync(
      process.env.APS_TEST_SUMMARY,
      JSON.stringify({
        passed: results.numPassedTests,
        // A suite that does not even run has no failed test: it counts as one.
        failed: results.numFailedTests + results.numRuntimeErrorTestSuites,
        interrupted: results.wasInterrupted,
      }),
    );
  }
};
