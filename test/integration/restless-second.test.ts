import { takeRandomSteps } from "../support/restless-steps.ts";

takeRandomSteps(2, { copiesAhead: false });
